import { createHmac, randomBytes } from 'node:crypto';
import { createSealer } from '../../../../lib/sealing.ts';
import { Secret } from '../../../../lib/secret.ts';
import type { Delivery, ReceiveCallbackRequest } from '../../../../proto/gen/ahs/deployments/v1/channels.ts';
import { createChannelSealing } from '../../../../services/deployments/channels/channel-sealing.ts';
import {
  type ChannelConfig,
  type ChannelIdentity,
  defaultConfig,
  type Provider,
} from '../../../../services/deployments/domain/channels/channel.ts';
import { AGENT, type DeploymentsSystem, OWNER, SEALING_KEY } from '../system.ts';

export const APPROVAL = 'apr_01M7XYC91CC5TE06JQWDWRTJVA';

/** The bot of each product, as the product knows it. */
export const IDENTITIES: Readonly<Record<Provider, ChannelIdentity>> = {
  slack: {
    botId: 'U0BOT',
    botProfileId: 'B0BOT',
    name: 'order_desk',
    appId: 'A0APP',
    teamId: 'T0TEAM',
    teamName: 'Example',
  },
  telegram: identity({ botId: '7000000001', name: 'order_desk_bot' }),
  discord: identity({ botId: '900000000000000001', name: 'order-desk', appId: '900000000000000002' }),
  http: identity({}),
};

function identity(members: Partial<ChannelIdentity>): ChannelIdentity {
  return { botId: '', botProfileId: '', name: '', appId: '', teamId: '', teamName: '', ...members };
}

export const SLACK_SECRET = 'the signing secret of the app';
export const TELEGRAM_SECRET = 'the-secret-token-of-the-webhook';
export const HTTP_SECRET = `whsec_${Buffer.from('the shared secret of the other product').toString('base64')}`;

interface ChannelOptions {
  config?: Partial<ChannelConfig>;
  credentials?: Record<string, string>;
  /** Null: no worker has connected the channel yet. */
  identity?: ChannelIdentity | null;
}

type StoringSystem = Pick<DeploymentsSystem, 'connection' | 'context' | 'sql'>;

const LEASE_SECONDS = 30;

const CREDENTIALS: Readonly<Record<Provider, Record<string, string>>> = {
  slack: { bot_token: 'xoxb-1', signing_secret: SLACK_SECRET },
  telegram: { bot_token: '1:a', webhook_secret: TELEGRAM_SECRET },
  discord: { bot_token: 'd', application_id: '900000000000000002', public_key: '' },
  http: { shared_secret: HTTP_SECRET },
};

/** Stores an enabled channel of OWNER that a worker connects with its product. Returns the ids of its deployment. */
export async function storeChannel(
  system: StoringSystem,
  provider: Provider,
  { config = {}, credentials = {}, identity: bot = IDENTITIES[provider] }: ChannelOptions = {},
) {
  const { context } = system;
  const deploymentId = context.ids('dep');
  const sealing = createChannelSealing(createSealer(SEALING_KEY), context.serviceSecret);
  const secrets = Object.entries({ ...CREDENTIALS[provider], ...credentials });
  const sealed = sealing.sealCredentials(
    Object.fromEntries(secrets.map(([name, value]) => [name, new Secret(value)])),
    deploymentId,
  );
  const now = context.clock.now();
  const settings = { ...defaultConfig(provider), ...config };
  await system.sql(
    `insert into deployments (deployment_id, created_by, agent_id, type, status, name, metadata, revision, created_at, updated_at)
     values ($1, $2, $3, 'channel', 'enabled', 'Desk', '{}', 1, $4, $4)`,
    [deploymentId, OWNER.userId, AGENT, now],
  );
  await system.sql(
    `insert into channels (deployment_id, owner_id, provider, config, sealed_credentials, credentials, is_enabled)
     values ($1, $2, $3, $4, $5, '[]', true)`,
    [deploymentId, OWNER.userId, provider, JSON.stringify(settings), sealed],
  );
  if (provider === 'http') return { deploymentId, agentId: AGENT };
  await system.sql(
    `insert into connections (deployment_id, owner_id, provider, mode, wanted, revision, state, since, ready_at)
     values ($1, $2, $3, $4, 'connect', 1, 'connecting', $5, $5)`,
    [deploymentId, OWNER.userId, provider, settings.mode, now],
  );
  if (bot) await connectBot(system, deploymentId, bot);
  return { deploymentId, agentId: AGENT };
}

/** Connects a channel as a worker does that has asked the product for the bot. Returns the fence of its lease. */
export async function connectBot(
  system: Pick<DeploymentsSystem, 'connection' | 'context'>,
  deploymentId: string,
  identity: ChannelIdentity,
): Promise<number> {
  const fence = await claimConnection(system, deploymentId);
  const report = { deploymentId, fence, state: 'connected', error: '', identity, resumeState: undefined };
  await system.connection.as('channels').reportConnection(report);
  return fence;
}

/** Claims the connection of a channel. Returns the fence of the lease. */
export async function claimConnection(
  { connection, context }: Pick<DeploymentsSystem, 'connection' | 'context'>,
  deploymentId: string,
): Promise<number> {
  const worker = connection.as('channels');
  const claim = { workerId: context.ids('wrk'), waitMs: 0, leaseSeconds: LEASE_SECONDS };
  const free = { connections: 1_000, conversations: 0, deliveries: 0 };
  const { connections } = await worker.claimWork({ ...claim, ...free }, { requestId: context.ids('req') });
  const own = connections.find((work) => work.deploymentId === deploymentId);
  if (!own) throw new Error(`the connection of ${deploymentId} cannot be claimed`);
  // The channels of other tests can still be claimed.
  for (const { deploymentId: other, fence } of connections) {
    const lease = { kind: 'connection', deploymentId: other, conversation: '', fence };
    if (other !== deploymentId) await worker.releaseLease({ lease, toldSeq: 0 });
  }
  return own.fence;
}

/** Headers of a request in their order. */
export type Headers = readonly (readonly [name: string, value: string])[];

export function callback(
  deploymentId: string,
  body: string | Uint8Array,
  headers: Headers,
): ReceiveCallbackRequest {
  return {
    deploymentId,
    httpMethod: 'POST',
    target: `/api/v1/deployments/${deploymentId}/callback`,
    headers: headers.map(([name, value]) => ({ name, value })),
    body: Buffer.from(body),
    oversize: false,
    sourceAddress: '203.0.113.7',
  };
}

export function slackHeaders(
  body: string | Uint8Array,
  now: Date,
  contentType = 'application/json',
): Headers {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const digest = createHmac('sha256', SLACK_SECRET).update(`v0:${timestamp}:`).update(body).digest('hex');
  return [
    ['content-type', contentType],
    ['x-slack-request-timestamp', timestamp],
    ['x-slack-signature', `v0=${digest}`],
  ];
}

/** Signs as Standard Webhooks. The payload is a body, or a request target. */
export function httpHeaders(payload: string | Uint8Array, now: Date, secret = HTTP_SECRET): Headers {
  const id = `msg_${randomBytes(8).toString('hex')}`;
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(payload).digest('base64');
  return [
    ['webhook-id', id],
    ['webhook-timestamp', timestamp],
    ['webhook-signature', `v1,${mac}`],
  ];
}

export function httpMessage(id: string, text = 'Is the build green?', conversation = 'room-1'): string {
  const user = { id: 'u1', name: 'Ada' };
  return JSON.stringify({ type: 'message', conversation, user, message: { id, text } });
}

/** A message of a user in the workspace of IDENTITIES. `members` are those of the outer object. */
export function slackEvent(event: object, members: object = {}): string {
  return JSON.stringify({
    type: 'event_callback',
    team_id: IDENTITIES.slack.teamId,
    api_app_id: IDENTITIES.slack.appId,
    event_id: 'Ev1',
    event: { type: 'message', user: 'U1', ...event },
    ...members,
  });
}

/** A message of a group that mentions the bot of IDENTITIES. `from` is the id of its sender. */
export function telegramMention(deploymentId: string, id: number, from: number): ReceiveCallbackRequest {
  const message = {
    ...{ message_id: id, date: 1_700_000_000, from: { id: from, first_name: 'P' } },
    chat: { id: -100, type: 'supergroup', title: 'Team' },
    text: '@order_desk_bot hi',
    entities: [{ type: 'mention', offset: 0, length: 15 }],
  };
  const headers: Headers = [['x-telegram-bot-api-secret-token', TELEGRAM_SECRET]];
  return callback(deploymentId, JSON.stringify({ update_id: id, message }), headers);
}

export interface ChannelReference {
  agentId: string;
  deploymentId: string;
}

type SendingSystem = Pick<DeploymentsSystem, 'edge' | 'context'>;

/** Sends a signed callback of the provider http. Returns the answer with the `data` of its body. */
export async function sendHttpCallback({ edge, context }: SendingSystem, deploymentId: string, body: string) {
  const headers = httpHeaders(body, context.clock.now());
  const answer = await edge.receiveCallback(callback(deploymentId, body, headers));
  return { ...answer, data: JSON.parse(Buffer.from(answer.body).toString()).data };
}

/** Sends a signed callback of Slack. */
export function sendSlackCallback({ edge, context }: SendingSystem, deploymentId: string, body: string) {
  return edge.receiveCallback(callback(deploymentId, body, slackHeaders(body, context.clock.now())));
}

/** Returns the newest deliveries of a channel of OWNER with a result; an empty one means all. */
export async function listedDeliveries(
  { edge }: Pick<DeploymentsSystem, 'edge'>,
  reference: ChannelReference,
  result = '',
): Promise<Delivery[]> {
  const request = { ...reference, page: undefined, result };
  return (await edge.listDeliveries(request, { caller: OWNER })).deliveries;
}

/** The functions above for the system of a suite, which is opened before its tests. */
export function callbacksOf(system: () => DeploymentsSystem) {
  return {
    now: () => system().context.clock.now(),
    listed: (reference: ChannelReference, result?: string) => listedDeliveries(system(), reference, result),
    sendHttp: (deploymentId: string, body: string) => sendHttpCallback(system(), deploymentId, body),
    sendSlack: (deploymentId: string, body: string) => sendSlackCallback(system(), deploymentId, body),
  };
}
