import { type Clock, systemClock } from '../../../../lib/clock.ts';
import { seeded } from '../../../chaos/random.ts';
import { createFaultPlan, type FaultPlan, type FaultRates } from '../faults.ts';
import { type ProductResponse, startProductServer } from '../http-server.ts';
import { type DiscordApplication, keysFrom, PRIVILEGED_INTENTS } from './application.ts';
import { serveAttachment } from './attachments.ts';
import { createGateway, type Gateway } from './gateway/gateway.ts';
import { createInteractions, type EndpointRequest } from './interactions.ts';
import { userObject } from './objects.ts';
import { createDiscordApi, type DiscordRequest } from './rest/api.ts';
import { createRateLimits, type RateLimit } from './rest/rate-limits.ts';
import { createSnowflakes } from './snowflakes.ts';
import type { DiscordOverrides, DiscordState } from './state.ts';
import { createDiscordWorld, type DiscordWorld } from './world.ts';

export interface DiscordOptions {
  /** Seed of tokens, keys and faults. Ids contain the time. Default: 1. */
  seed?: number;
  /** Shares of random faults. Default: none. */
  faults?: FaultRates;
  clock?: Clock;
  /** The interval of heartbeats in milliseconds. Default: 41,250. */
  heartbeatMs?: number;
  /** The limit of each route and channel. Default: 5 requests in 5 seconds. The global limit is 50 per second. */
  routeLimit?: RateLimit;
}

export interface Discord extends AsyncDisposable, DiscordWorld {
  /** The root of the REST API without a version: `api` of `@discordjs/rest`, `discord=…` in `SERVICE_CHANNELS_API_URLS`. */
  apiUrl: string;
  /** The root of attachments, which need no token. */
  cdnUrl: string;
  /** The application that exists from the start, with the intent for the content of messages. */
  application: DiscordApplication;
  createApplication(options?: { username?: string }): DiscordApplication;
  /** Replaces the token of a bot. Its connections end with code 4004. */
  resetToken(application: DiscordApplication): string;
  faults: FaultPlan;
  gateway: Gateway;
  /** All requests to the REST API in the order of their arrival. */
  requests: readonly DiscordRequest[];
  /** The requests to interactions endpoints. */
  endpointRequests: readonly EndpointRequest[];
  /** Changes take effect at once. */
  overrides: DiscordOverrides;
  /** Refuses all requests of bots with a global 429 for some time. */
  limitGlobally(seconds: number): void;
  /** Checks the interactions endpoint again, as the product does from time to time. Removes it if it fails. */
  checkEndpoint(application?: DiscordApplication): Promise<boolean>;
  /** Ends all connections, also in the middle of a response. Gateway sessions stay and can be resumed. */
  closeConnections(): void;
}

/**
 * Starts a server that speaks version 10 of Discord's REST API and gateway on a free port of 127.0.0.1.
 *
 * ```ts
 * await using discord = await startDiscord({ seed: 7, faults: { rate5xx: 0.1 } });
 * // The system under test: discord.application.{id, token, publicKey}, SERVICE_CHANNELS_API_URLS=discord=<discord.apiUrl>
 * const ada = discord.createUser('ada');
 * const guild = discord.createGuild('Operations', [ada]);
 * const channel = discord.createChannel(guild, 'general'); // or directChannel(ada), createThread(channel, 'name', ada)
 * discord.post({ from: ada, channel, content: `${discord.mention(discord.application)} status?` });
 * const answer = await until('the bot answers', () => discord.messages(channel).find((one) => one.author.bot));
 * const click = discord.click(ada, channel, answer, 'Allow'); // click.state: waiting, deferred, answered or failed
 * discord.runCommand(ada, channel, 'ask', { prompt: 'Hello' }); // once the bot has registered /ask
 * ```
 *
 * - Events reach the sessions at the gateway whose intents include them. `discord.gateway` requests reconnects, invalidates
 *   sessions, closes connections and withholds acknowledgements of heartbeats.
 * - Interactions reach the gateway, or the endpoint that the bot has set with `PATCH /applications/@me`. The product checks
 *   an endpoint with a PING and with a wrongly signed one, which must be answered with 401.
 * - A create with `enforce_nonce` and a known nonce returns the message that exists, and fails if it was deleted.
 * - A fault plan acts on routes: `discord.faults.enqueue('POST /channels/:channel/messages', { kind: 'applied_then_cut' })`.
 *   Duplicated and held deliveries are events at the gateway and requests to the endpoint, in the order of their channel.
 *   Downloads of attachments are `download`.
 * - `discord.overrides` and `url` of a posted file name foreign addresses, which a client must refuse or call without a token.
 * - Compression, sharding, voice, and components other than buttons are not supported.
 */
export async function startDiscord(options: DiscordOptions = {}): Promise<Discord> {
  const { seed = 1, clock = systemClock, heartbeatMs = 41_250 } = options;
  const faults = createFaultPlan(seed, options.faults);
  const random = seeded(seed);
  const requests: DiscordRequest[] = [];
  const state: DiscordState = {
    applications: [],
    guilds: new Map(),
    channels: new Map(),
    users: new Map(),
    interactions: new Map(),
    attachments: new Map(),
    nonces: new Map(),
    cdnUrl: '',
    nextId: createSnowflakes(clock),
    now: () => clock.now(),
    random,
    overrides: {},
  };
  const limits = createRateLimits(clock, options.routeLimit ?? { requests: 5, seconds: 5 });
  const interactions = createInteractions(state, clock, faults);
  let socketUrl = '';
  const { gateway, upgrade, url } = createGateway({
    state,
    clock,
    faults,
    heartbeatMs,
    socketUrl: () => socketUrl,
  });
  const api = createDiscordApi({ state, interactions, faults, limits, requests, gatewayUrl: url });

  const text = (length: number) =>
    Array.from({ length }, () => Math.floor(random() * 36).toString(36)).join('');
  const newToken = (id: string) => `${Buffer.from(id).toString('base64url')}.${text(6)}.${text(38)}`;

  function createApplication({
    username = `Agent ${state.applications.length + 1}`,
  } = {}): DiscordApplication {
    const id = state.nextId();
    const application: DiscordApplication = {
      ...{ id, bot: userObject(id, username, true), token: newToken(id), ...keysFrom(text(32)) },
      interactionsEndpointUrl: null,
      privilegedIntents: PRIVILEGED_INTENTS.messageContent,
      commands: new Map(),
      sessions: [],
      remainingIdentifies: 1000,
    };
    state.users.set(id, application.bot);
    state.applications.push(application);
    return application;
  }

  function download(path: string, query: URLSearchParams): ProductResponse {
    const fault = faults.forRequest('download');
    if (fault?.kind === 'rate_limited')
      return { status: 429, headers: { 'retry-after': String(fault.retryAfterSeconds) } };
    if (fault?.kind === 'server_error') return { status: fault.status };
    if (fault) return 'cut';
    const { downloadLocation: location } = state.overrides;
    return location === undefined
      ? serveAttachment(state, path, query)
      : { status: 302, headers: { location } };
  }

  const application = createApplication();
  const server = await startProductServer({
    handle(request) {
      const path = /^\/cdn\/(.+)$/.exec(request.path)?.[1];
      return path === undefined ? api(request) : download(path, request.query);
    },
    upgrade,
  });
  socketUrl = server.socketUrl;
  state.cdnUrl = `${server.url}/cdn`;
  return {
    ...createDiscordWorld(state, interactions),
    apiUrl: `${server.url}/api`,
    cdnUrl: state.cdnUrl,
    application,
    createApplication,
    resetToken(reset) {
      reset.token = newToken(reset.id);
      gateway.disconnect(4004, reset);
      reset.sessions = [];
      return reset.token;
    },
    faults,
    gateway,
    requests,
    overrides: state.overrides,
    endpointRequests: interactions.endpointRequests,
    limitGlobally: limits.blockAll,
    async checkEndpoint(checked = application) {
      const endpoint = checked.interactionsEndpointUrl;
      const isValid = endpoint !== null && (await interactions.validateEndpoint(checked, endpoint));
      if (!isValid) checked.interactionsEndpointUrl = null;
      return isValid;
    },
    closeConnections: server.closeConnections,
    async [Symbol.asyncDispose]() {
      interactions.close();
      for (const one of state.applications) for (const session of one.sessions) session.close();
      await server[Symbol.asyncDispose]();
    },
  };
}
