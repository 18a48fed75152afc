import cookies from '@fastify/cookie';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { refuse } from '../lib/errors.ts';
import { traceparent } from '../lib/trace.ts';
import { closeRoutes, type ServedRoute } from './access.ts';
import { serveAiStream } from './ai-stream/route.ts';
import type { EdgeConfig } from './config.ts';
import type { EdgeContext } from './context.ts';
import { sourceAddresses } from './door/address.ts';
import { type BrowserRules, browserFault, browserRules, originForm } from './door/browser.ts';
import { createCookies } from './door/cookies.ts';
import { Door } from './door/door.ts';
import { asRefusal, errorHeaders, errorText, statusOf } from './errors.ts';
import { awaitsInvitation, invite, watchExpectations } from './plugins/expectation.ts';
import { answerEarly } from './plugins/farewell.ts';
import { answerMalformed, type Exchanges } from './plugins/malformed.ts';
import { looksForPage } from './plugins/navigation.ts';
import { openRefusals } from './plugins/refusals.ts';
import { factsOf, watchRequests } from './plugins/requests.ts';
import { SECURITY_HEADERS } from './plugins/security.ts';
import { isUnhurried } from './plugins/unhurried.ts';
import { refuseUnknown } from './plugins/unknown.ts';
import { serveLogin } from './routes/auth/login.ts';
import { BUILT, serveConsole } from './routes/console.ts';
import { serveDocs } from './routes/docs.ts';
import { serveExport } from './routes/export.ts';
import { serveFiles } from './routes/files.ts';
import { serveOperations } from './routes/operations.ts';
import { serveStream } from './routes/stream.ts';
import { serveTrigger } from './routes/trigger.ts';
import { ROUTES } from './routes.ts';
import { API, serve } from './serve.ts';
import { LiveStreams } from './streaming/live.ts';

export interface EdgeApp {
  app: FastifyInstance;
  /** Everything that is served, in the order in which it was registered. */
  routes: readonly ServedRoute[];
  /** Until then everything is refused. Gives the origin under which clients reach it. */
  begin(listening: URL): string;
  /** Sends those away whose answers go on. */
  drain(): void;
}

const HEADERS_TIMEOUT_MS = 10_000;
const SWEEP_MS = 1_000;
const KEEP_ALIVE_MS = 65_000;
const MAX_PARAM_CHARS = 200;
const TRIGGER_URL = `${API}/deployments/:deployment_id/trigger`;

/** The HTTP side of the service, which does not listen yet. The console comes from a folder where it was built. */
export async function createApp(
  context: EdgeContext,
  config: EdgeConfig,
  folder: string = BUILT,
): Promise<EdgeApp> {
  const requestTimeout = config.requestTimeoutSeconds * 1_000;
  const exchanges: Exchanges = new WeakMap();
  const app = Fastify({
    logger: false,
    genReqId: () => context.ids('req'),
    requestTimeout,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: {
      // A request without Host is refused by our rules, in our words.
      requireHostHeader: false,
      headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeout),
      connectionsCheckingInterval: SWEEP_MS,
    },
    routerOptions: { maxParamLength: MAX_PARAM_CHARS, ignoreTrailingSlash: false },
    forceCloseConnections: 'idle',
    rewriteUrl: originForm,
    clientErrorHandler: (error, socket) => answerMalformed(error, socket, exchanges, context.ids('req')),
    frameworkErrors: (error, request, reply) => sendError(error, request, reply),
    return503OnClosing: false,
  });
  const watch = watchRequests(context);
  const addressOf = sourceAddresses(app, config.trustedProxies);
  const refusals = openRefusals(context);
  let rules: BrowserRules | undefined;

  /** What stands on every answer, errors included. */
  function begin(request: FastifyRequest, reply: FastifyReply): void {
    request.address = addressOf(request);
    // A sender of webhooks traces its own work, not ours.
    watch(request, reply, request.routeOptions?.url === TRIGGER_URL);
    reply.headers(SECURITY_HEADERS);
    reply.header('cache-control', 'no-store');
    reply.header('traceparent', traceparent(request.span.trace));
    reply.header('x-request-id', request.id);
  }

  function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    if (request.span === undefined) begin(request, reply);
    const refusal = asRefusal(error);
    if (refusal.code === 'INTERNAL') {
      const facts = { ...factsOf(request), err: refusal.cause ?? error };
      context.log.error(facts, 'a request failed unexpectedly');
    }
    request.outcome.refused = refusal.code;
    refusals.note(request, refusal.code);
    const text = errorText(refusal, request.id);
    const challenge = reply.getHeader('www-authenticate');
    const headers = { ...errorHeaders(refusal), ...(challenge ? { 'www-authenticate': challenge } : {}) };
    reply.code(statusOf(refusal)).headers(headers).type('application/json; charset=utf-8');
    if (request.raw.complete || !isUnhurried(request) || awaitsInvitation(request.raw)) {
      void reply.send(text);
      return;
    }
    reply.hijack();
    answerEarly(request.raw, reply.raw, statusOf(refusal), { ...reply.getHeaders() }, text);
  }

  app.setErrorHandler(sendError);
  app.removeAllContentTypeParsers();
  // Routes read their bodies themselves, after they have looked at who sends them.
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.addHook('onRequest', async (request, reply) => {
    const { raw } = request;
    const unhurried = isUnhurried(request);
    exchanges.set(raw.socket, { request: raw, response: reply.raw, unhurried });
    if (!unhurried) invite(raw);
    begin(request, reply);
    // A Content-Type that the framework cannot parse is for the route to judge, or to ignore.
    raw.headers['content-type'] = 'application/octet-stream';
    const { url, config: served } = request.routeOptions;
    if (url === TRIGGER_URL) return;
    if (!rules) throw refuse('DEPENDENCY_UNAVAILABLE', 'the service is starting');
    const isPage = url === undefined ? looksForPage(request) : !url.startsWith(API) || served.isPage === true;
    const { method, headers } = request;
    const credential = door.credentialOf(headers);
    request.credential = credential;
    const fault = browserFault(rules, { method, headers, isPage, credential });
    if (fault) throw fault;
    if (url !== undefined) await door.admit(request, reply);
  });
  watchExpectations(app.server);
  const routes = closeRoutes(app);
  refuseUnknown(app, () => console);
  await app.register(cookies, { hook: false });
  const isSecure = config.publicUrl?.startsWith('https:') ?? false;
  const door = new Door(app, context, config.authMode, createCookies(app, isSecure));
  for (const route of ROUTES) serve(app, route, { ...context, door });
  serveLogin(app, context, door.cookies);
  serveTrigger(app, context, config.maxWebhookBytes);
  const live = new LiveStreams();
  const stallMs = config.streamStallSeconds * 1_000;
  serveStream(app, context, live, stallMs);
  serveAiStream(app, context, live, stallMs);
  serveExport(app, context, stallMs);
  serveFiles(app, context, { uploadStallMs: requestTimeout, downloadStallMs: stallMs });
  serveOperations(app, context, door);
  const published = config.publicUrl === undefined ? undefined : new URL(config.publicUrl).origin;
  let origin = published ?? '';
  // Where a list of hosts is kept, the Host header is one of our names: others were refused before.
  const isListed = config.authMode === 'local' && published === undefined;
  serveDocs(app, ({ headers }) => (isListed ? `http://${headers.host}` : origin));
  const console = await serveConsole(app, { folder, devServer: config.consoleDevServer });
  app.addHook('onClose', async () => {
    door.stop();
    await refusals.stop();
  });

  return {
    app,
    routes,
    begin(listening) {
      rules = browserRules(listening, config);
      origin = published ?? listening.origin;
      return origin;
    },
    drain: () => live.drain(),
  };
}
