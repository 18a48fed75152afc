import cookies from '@fastify/cookie';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Refusal, refuse } from '../lib/errors.ts';
import { maxOpenFiles } from '../lib/open-files.ts';
import { traceparent } from '../lib/trace.ts';
import { applyRouteAccess, type RegisteredRoute } from './access.ts';
import { createAddressReader } from './authentication/address.ts';
import { Authenticator } from './authentication/authenticator.ts';
import {
  allowedOriginOf,
  type BrowserRules,
  browserRules,
  checkBrowserRequest,
  originForm,
} from './authentication/browser.ts';
import { createCookies } from './authentication/cookies.ts';
import type { EdgeConfig } from './config.ts';
import type { EdgeContext } from './context.ts';
import { errorHeaders, statusOf, toRefusal } from './errors.ts';
import { allowCompression } from './plugins/compression.ts';
import { ConnectionLimit } from './plugins/connection-limit.ts';
import { allowPage, answerPreflight, isPreflight } from './plugins/cross-origin.ts';
import { sendEarlyResponse } from './plugins/early-response.ts';
import { awaitsContinue, handleExpectations, sendContinue } from './plugins/expectation.ts';
import { checkProtocol } from './plugins/http-protocol.ts';
import {
  type Exchanges,
  isClosing,
  refuseConnect,
  respondToMalformed,
  responseTo,
} from './plugins/malformed-request.ts';
import { acceptsHtml, isPageNavigation } from './plugins/navigation.ts';
import { NO_SCHEMA_COMPILERS } from './plugins/no-schema-compilers.ts';
import { handleNotFound } from './plugins/not-found.ts';
import { startRefusalAudit } from './plugins/refusal-audit.ts';
import { logInvalidRequest } from './plugins/request-log.ts';
import { createRequestTelemetry } from './plugins/request-telemetry.ts';
import { SECURITY_HEADERS } from './plugins/security.ts';
import { allowsSlowBody } from './plugins/slow-body.ts';
import { admitWebhooks } from './plugins/webhook-admission.ts';
import { errorBody } from './protocols/errors.ts';
import { createProtocolMetrics } from './protocols/metrics.ts';
import { API_PREFIX, registerRoute, routeUrl } from './register-route.ts';
import { BUILT, serveConsole } from './routes/console.ts';
import { CALLBACK_PATH, PULL_PATH } from './routes/deployments/callback.ts';
import { serveDocs } from './routes/docs.ts';
import { TRIGGER_PATH } from './routes/trigger.ts';
import { ROUTES } from './routes.ts';
import { LiveStreams } from './streaming/live-streams.ts';
import { StallMonitor } from './streaming/stall-monitor.ts';

interface EdgeApp {
  app: FastifyInstance;
  /** All registered routes, in the order of their registration. */
  routes: readonly RegisteredRoute[];
  /** Starts to accept requests; until then all are refused. Returns the origin under which clients reach the service. */
  setListeningUrl(listening: URL): string;
  /** Asks the clients of open streams to reconnect to another process. */
  drain(): void;
}

const HEADERS_TIMEOUT_MS = 10_000;
const TIMEOUT_CHECK_MS = 1_000;
const KEEP_ALIVE_MS = 65_000;
const MAX_PARAM_CHARS = 200;
/** The Content-Type of every request for the framework, which remembers the parser of an exact type but not of `*`. */
const BODY_TYPE = 'application/octet-stream';
const SENDER_URLS = new Set([TRIGGER_PATH, CALLBACK_PATH].map(routeUrl));
/** The routes of signed requests. Credentials, Host and browser rules do not apply to them. */
const SIGNED_URLS = new Set([TRIGGER_PATH, CALLBACK_PATH, PULL_PATH].map(routeUrl));

/** Creates the HTTP server of the service without listening. `consoleFolder` contains the build of the console. */
export async function createApp(
  context: EdgeContext,
  config: EdgeConfig,
  consoleFolder: string = BUILT,
): Promise<EdgeApp> {
  const requestTimeout = config.requestTimeoutSeconds * 1_000;
  const exchanges: Exchanges = new WeakMap();
  const app = Fastify({
    logger: false,
    // These would be a second route with its own hooks for each GET route: about 5 % of the CPU time of the start and 6 MiB.
    // They announce the length of the body before its compression.
    exposeHeadRoutes: false,
    schemaController: NO_SCHEMA_COMPILERS,
    genReqId: () => context.ids('req'),
    requestTimeout,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: {
      // `checkProtocol` refuses a request without Host with our error envelope.
      requireHostHeader: false,
      headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeout),
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    },
    routerOptions: { maxParamLength: MAX_PARAM_CHARS, ignoreTrailingSlash: false },
    forceCloseConnections: 'idle',
    rewriteUrl: originForm,
    clientErrorHandler: (error: Error, socket) =>
      respondToMalformed(error, socket, exchanges, respondToInvalid),
    frameworkErrors: (error, request, reply) => sendError(error, request, reply),
    return503OnClosing: false,
  });
  const startTelemetry = createRequestTelemetry(context);
  const addressOf = createAddressReader(app, config.trustedProxies);
  const refusalAudit = startRefusalAudit(context);
  const admission = admitWebhooks(app.server, context);
  const connectionLimit = new ConnectionLimit(app.server, maxOpenFiles());
  let rules: BrowserRules | undefined;

  /** Starts the telemetry of a request and sets the headers of every response, errors included. */
  function beginRequest(request: FastifyRequest, reply: FastifyReply): void {
    request.address = addressOf(request);
    // Webhook senders and products trace their own work, so their trace is linked and not continued.
    startTelemetry(request, reply, SENDER_URLS.has(request.routeOptions?.url ?? ''));
    reply.headers(SECURITY_HEADERS);
    reply.header('cache-control', 'no-store');
    reply.header('traceparent', traceparent(request.span.trace));
    reply.header('x-request-id', request.id);
  }

  /** Returns the response to a request for which the framework has no request object, and logs it. */
  function respondToInvalid(refusal: Refusal): string {
    const requestId = context.ids('req');
    logInvalidRequest(context.log, requestId, refusal);
    return responseTo(refusal, requestId);
  }

  function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    if (request.span === undefined) beginRequest(request, reply);
    const refusal = toRefusal(error);
    request.outcome.errorCode = refusal.code;
    request.outcome.cause = refusal.cause ?? error;
    refusalAudit.record(request, refusal.code);
    const { refusalPage } = request.routeOptions?.config ?? {};
    if (refusalPage !== undefined && acceptsHtml(request.headers)) {
      void reply.redirect(`${refusalPage}?refused=${refusal.code}`, 302);
      return;
    }
    const text = errorBody(request, refusal);
    const challenge = reply.getHeader('www-authenticate');
    const headers = { ...errorHeaders(refusal), ...(challenge ? { 'www-authenticate': challenge } : {}) };
    reply.code(statusOf(refusal)).headers(headers).type('application/json; charset=utf-8');
    const { raw } = request;
    const endsConnection = allowsSlowBody(request) || !reply.raw.shouldKeepAlive;
    if (raw.complete || awaitsContinue(raw) || !endsConnection) {
      void reply.send(text);
      return;
    }
    reply.hijack();
    sendEarlyResponse(raw, reply.raw, statusOf(refusal), { ...reply.getHeaders() }, text);
  }

  app.setErrorHandler(sendError);
  app.removeAllContentTypeParsers();
  // Routes read their bodies themselves, after the request is authorized.
  app.addContentTypeParser(BODY_TYPE, (_request, _payload, done) => done(null));
  app.addHook('onRequest', async (request, reply) => {
    const { raw } = request;
    if (isClosing(raw.socket))
      throw refuse('REQUEST_TIMEOUT', 'The connection is closing. Send the request on another one.');
    const slowBody = allowsSlowBody(request);
    exchanges.set(raw.socket, { request: raw, response: reply.raw, slowBody });
    const invalid = checkProtocol(raw);
    if (invalid) {
      reply.raw.shouldKeepAlive = false;
      throw invalid;
    }
    if (!slowBody) sendContinue(raw);
    beginRequest(request, reply);
    connectionLimit.check(request, reply);
    admission.check(raw);
    // The framework would refuse a Content-Type that it cannot parse. Routes check it from `rawHeaders`.
    raw.headers['content-type'] = BODY_TYPE;
    const { url, config: routeConfig } = request.routeOptions;
    if (url !== undefined && SIGNED_URLS.has(url)) return;
    if (!rules) throw refuse('DEPENDENCY_UNAVAILABLE', 'The service is starting.');
    const isProtocol = routeConfig.protocol !== undefined;
    const isPage =
      url === undefined
        ? isPageNavigation(request)
        : !isProtocol && (!url.startsWith(API_PREFIX) || routeConfig.isPage === true);
    if (rules.allowedOrigins.size > 0) reply.header('vary', 'Origin');
    const { method, headers } = request;
    const allowedOrigin = allowedOriginOf(rules, headers);
    if (allowedOrigin !== undefined) allowPage(request, reply, allowedOrigin);
    const credential = authenticator.credentialOf(request);
    request.credential = credential;
    const refusal = checkBrowserRequest(rules, { method, headers, isPage, isProtocol, credential });
    if (refusal) throw refusal;
    if (allowedOrigin !== undefined && isPreflight(request)) return answerPreflight(request, reply);
    if (url !== undefined && !routeConfig.authorizesItself) await authenticator.authorize(request, reply);
  });
  handleExpectations(app.server);
  refuseConnect(app.server, exchanges, respondToInvalid);
  const routes = applyRouteAccess(app);
  handleNotFound(app, () => console);
  await app.register(cookies, { hook: false });
  const isSecure = config.publicUrl?.startsWith('https:') ?? false;
  const published = config.publicUrl === undefined ? undefined : new URL(config.publicUrl).origin;
  let origin = published ?? '';
  const publicOrigin = () => origin;
  const identifying = { ...context, publicOrigin };
  const authenticator = new Authenticator(app, identifying, config.authMode, createCookies(app, isSecure));
  const liveStreams = new LiveStreams();
  const draining = new AbortController();
  const stalled = context.metrics
    .counter({
      name: 'ahs_stalled_responses_total',
      help: 'Streams and downloads that were closed because their client had stopped reading.',
    })
    .labels();
  const stallMonitor = new StallMonitor({
    clock: context.clock,
    stallMs: config.streamStallSeconds * 1_000,
    onStall: () => stalled.inc(),
  });
  const routeContext = {
    ...context,
    authenticator,
    publicOrigin,
    liveStreams,
    draining: draining.signal,
    maxWebhookBytes: config.maxWebhookBytes,
    uploadStallMs: requestTimeout,
    stallMonitor,
    protocolMetrics: createProtocolMetrics(context.metrics),
  };
  await allowCompression(app);
  for (const route of ROUTES) registerRoute(app, route, routeContext);
  // In local mode the Host header has been checked against the allowed hosts, so it can be trusted.
  const hasCheckedHost = config.authMode === 'local' && published === undefined;
  serveDocs(app, ({ headers }) => (hasCheckedHost ? `http://${headers.host}` : origin));
  const console = await serveConsole(app, { folder: consoleFolder, devServer: config.consoleDevServer });
  app.addHook('onClose', async () => {
    authenticator.stop();
    stallMonitor.stop();
    await refusalAudit.stop();
  });

  return {
    app,
    routes,
    setListeningUrl(listening) {
      rules = browserRules(listening, config);
      origin = published ?? listening.origin;
      return origin;
    },
    drain() {
      draining.abort();
      liveStreams.drain();
    },
  };
}
