import { type Clock, systemClock } from '../../../../lib/clock.ts';
import { seeded } from '../../../chaos/random.ts';
import { createFaultPlan, type FaultPlan, type FaultRates } from '../faults.ts';
import { type ProductRequest, type ProductResponse, startProductServer } from '../http-server.ts';
import { createDelivery, type DeliveryRecord, RETRY_DELAYS_MS } from './delivery.ts';
import { LOGIN_PAGE, receiveUpload, sendFile } from './file-content.ts';
import { createIdentifiers } from './identifiers.ts';
import { chatMethods } from './methods/chat.ts';
import { conversationMethods } from './methods/conversations.ts';
import { createFileMethods, type PendingUpload } from './methods/files.ts';
import { identityMethods } from './methods/identity.ts';
import type { Overrides } from './methods/method.ts';
import type { Json } from './objects.ts';
import { createParticipants, type Participants } from './participants.ts';
import { eventCallback, eventsOf, removalEvents } from './payloads.ts';
import { createRateLimits } from './rate-limits.ts';
import { createRequestUrlTransport, type RequestUrls, verifyRequestUrl } from './request-url.ts';
import { createResponseUrls } from './response-urls.ts';
import { createSocketMode, type SocketMode } from './socket-mode.ts';
import type { Transport } from './transport.ts';
import { type CallRecord, createWebApi } from './web-api.ts';
import { Workspace } from './workspace.ts';

/** The scopes of an app that follows channels and direct messages, posts, and takes and sends files. */
export const SCOPES = [
  ...['app_mentions:read', 'channels:history', 'channels:read', 'chat:write', 'commands', 'files:read'],
  ...['files:write', 'groups:history', 'groups:read', 'im:history', 'im:read', 'im:write', 'users:read'],
] as const;

/** Slack waits this long for a response or an acknowledgement. */
const TIMEOUT_MS = 3_000;

export interface SlackOptions {
  seed?: number;
  /** Shares of random faults. Default: none. */
  faults?: FaultRates;
  scopes?: readonly string[];
  /** Times of messages, limits, retries and disconnects. Default: the system's clock. */
  clock?: Clock;
  /** Waits before the retries of an event. Default: `RETRY_DELAYS_MS`. */
  retryDelaysMs?: readonly number[];
  /** Default: 3,000. */
  timeoutMs?: number;
  /** Applies the published rate limits. Default: false. */
  hasRateLimits?: boolean;
  /**
   * Ends the TCP connection after the close handshake of a WebSocket. Default: false, as Slack leaves it open: the client
   * has to end it (release notes of @slack/socket-mode 3.2.0).
   */
  endsTcp?: boolean;
}

export interface SlackServer extends AsyncDisposable {
  /** The base URL of the Web API with the final slash, for `slackApiUrl`. */
  apiUrl: string;
  /** The origin of the server, which also serves files, uploads and response URLs. */
  origin: string;
  botToken: string;
  appToken: string;
  signingSecret: string;
  appId: string;
  botUser: string;
  botId: string;
  /** Changes take effect at once. */
  overrides: Overrides;
  /** The granted scopes. Changes take effect at once. */
  scopes: Set<string>;
  workspace: Participants;
  faults: FaultPlan;
  /** The calls of the Web API, in order. */
  calls: CallRecord[];
  /** The attempts to deliver payloads, in order. */
  deliveries: DeliveryRecord[];
  /** Events that the app did not take after the last retry. */
  lost: Json[];
  sockets: Pick<SocketMode, 'connections' | 'unacknowledged' | 'disconnect' | 'cut'>;
  /**
   * Sends payloads to request URLs instead of Socket Mode from now on. One URL serves all kinds of payloads. Returns whether
   * the URL for events answered the challenge; without that, nothing changes.
   */
  setRequestUrl(url: string | RequestUrls): Promise<boolean>;
  /** Sends payloads over Socket Mode from now on, which is the default. */
  useSocketMode(): void;
  /** Sends an event of any shape, such as `{type: "reaction_added", …}`, as `event_callback`. */
  sendEvent(event: Json): void;
  /** Resolves when no attempt to deliver is running. Retries that wait for their time do not count. */
  settled(): Promise<void>;
  /** Makes every call with the bot token fail with this error. Undefined restores the token. */
  setTokenError(error: string | undefined): void;
  /** Removes the app from the workspace: the events `tokens_revoked` and `app_uninstalled`, then `account_inactive`. */
  uninstall(): void;
  close(): Promise<void>;
}

/**
 * Starts a server that speaks Slack's protocols on a free port of 127.0.0.1: the Web API, uploads and files, Socket Mode,
 * and signed requests to request URLs with Slack's retries. It has one workspace with one installed app.
 *
 *     await using slack = await startSlack({ seed: 7, faults: { rate429: 0.1, appliedThenCut: 0.05 } });
 *     // Socket Mode: pass slack.apiUrl, slack.appToken and slack.botToken to the adapter. Request URLs:
 *     await slack.setRequestUrl(`${origin}/api/v1/deployments/${id}/callback`);
 *     const { users, channels, postAs, click, messages } = slack.workspace;
 *     const { ts } = postAs(users.ada, channels.general, 'hello', { mention: true });
 *     const reply = await until('the bot replies', () => slack.workspace.thread(channels.general, ts)[1]);
 *     await click(users.ada, reply, 'allow');
 *
 * - `slack.faults.enqueue('chat.postMessage', { kind: 'applied_then_cut' })` fails the next call only. `slack.faults.stop()`
 *   ends random faults. Uploads are the method `upload`, downloads `download`.
 * - A test of retries sets `retryDelaysMs: [0, 50, 200]`, or passes a manual clock and advances it.
 * - `slack.calls` and `slack.deliveries` show the traffic: pace of edits, tokens in arguments, redeliveries.
 * - `signatureHeaders` in signature.ts signs requests that Slack would not send: forged, stale or foreign ones.
 * - `slack.overrides` and `urlPrivate` of a file name foreign addresses, which a client must refuse or call without a token.
 * - `messages(…)[i].notifies` must be empty when mentions such as `@channel` are disarmed.
 * - Group conversations, views, reactions and streams are not part of this server.
 */
export async function startSlack(options: SlackOptions = {}): Promise<SlackServer> {
  const { seed = 1, clock = systemClock, timeoutMs = TIMEOUT_MS, endsTcp = false } = options;
  const random = seeded(seed);
  const workspace = new Workspace(createIdentifiers(random, clock), clock, options.scopes ?? SCOPES);
  const { app, ids } = workspace;
  const plan = createFaultPlan(seed, options.faults);
  const sockets = createSocketMode({ workspace, clock, random: seeded(seed + 1), timeoutMs });
  let transport: Transport = sockets;
  const delivery = createDelivery({
    plan,
    clock,
    transport: () => transport,
    retryDelaysMs: options.retryDelaysMs ?? RETRY_DELAYS_MS,
    newEventId: () => ids.id('Ev'),
  });
  const uploads = new Map<string, PendingUpload>();
  const calls: CallRecord[] = [];
  const overrides: Overrides = {};
  let origin = '';
  const responseUrls = createResponseUrls(workspace, () => origin);

  async function handle(request: ProductRequest): Promise<ProductResponse> {
    const { path } = request;
    const [, area, ...rest] = path.split('/');
    if (area === 'api') return webApi(rest.join('/'), request);
    if (area === 'upload') return withFault('upload', () => receiveUpload(uploads, rest[1] ?? '', request));
    if (area === 'files-pri') return withFault('download', () => download(path, request));
    return responseUrls.handle(path, request) ?? LOGIN_PAGE;
  }

  function download(path: string, request: ProductRequest): ProductResponse {
    const { downloadLocation: location } = overrides;
    return location === undefined
      ? sendFile(workspace, path, request)
      : { status: 302, headers: { location } };
  }

  async function withFault(
    method: string,
    respond: () => ProductResponse | Promise<ProductResponse>,
  ): Promise<ProductResponse> {
    const fault = plan.forRequest(method);
    if (fault?.kind === 'rate_limited')
      return { status: 429, headers: { 'retry-after': String(fault.retryAfterSeconds) } };
    if (fault?.kind === 'server_error') return { status: fault.status };
    const response = await respond();
    return fault ? 'cut' : response;
  }

  const server = await startProductServer({
    handle,
    keepsTcpOpen: !endsTcp,
    upgrade: ({ path, query }) => (path === '/link/' ? sockets.accept(query.get('ticket')) : 404),
  });
  origin = server.url;
  const webApi = createWebApi({
    workspace,
    methods: { ...chatMethods, ...conversationMethods, ...identityMethods, ...createFileMethods(uploads) },
    plan,
    limits: options.hasRateLimits ? createRateLimits(clock) : undefined,
    records: calls,
    context: { origin, socketUrl: server.socketUrl, sockets, overrides },
  });
  workspace.onChange = (change) => {
    for (const event of eventsOf(workspace, change, origin)) delivery.event(eventCallback(workspace, event));
  };
  const sendEvent = (event: Json) =>
    delivery.event(eventCallback(workspace, { event_ts: ids.ts(), ...event }));

  async function close(): Promise<void> {
    delivery.close();
    await server[Symbol.asyncDispose]();
  }
  return {
    apiUrl: `${origin}/api/`,
    origin,
    botToken: app.botToken,
    appToken: app.appToken,
    signingSecret: app.signingSecret,
    appId: app.appId,
    botUser: app.botUser,
    botId: app.botId,
    overrides,
    scopes: app.scopes,
    workspace: createParticipants({ workspace, delivery, responseUrls, origin: () => origin }),
    faults: plan,
    calls,
    deliveries: delivery.records,
    lost: delivery.lost,
    sockets,
    async setRequestUrl(url) {
      const urls = typeof url === 'string' ? { events_api: url, interactive: url, slash_commands: url } : url;
      const target = { app, clock, urls, timeoutMs };
      const isVerified = await verifyRequestUrl(target, ids.hex(52));
      if (isVerified) transport = createRequestUrlTransport(target);
      return isVerified;
    },
    useSocketMode() {
      transport = sockets;
    },
    sendEvent,
    settled: () => delivery.settled(),
    setTokenError(error) {
      app.tokenError = error;
    },
    uninstall() {
      for (const event of removalEvents(workspace)) sendEvent(event);
      app.tokenError = 'account_inactive';
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
