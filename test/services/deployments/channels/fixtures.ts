import { createHmac, randomBytes } from 'node:crypto';
import { createSealer } from '../../../../lib/sealing.ts';
import { Secret } from '../../../../lib/secret.ts';
import type { ReceiveCallbackRequest } from '../../../../proto/gen/ahs/deployments/v1/channels.ts';
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
  identity?: ChannelIdentity | null;
}

const CREDENTIALS: Readonly<Record<Provider, Record<string, string>>> = {
  slack: { bot_token: 'xoxb-1', signing_secret: SLACK_SECRET },
  telegram: { bot_token: '1:a', webhook_secret: TELEGRAM_SECRET },
  discord: { bot_token: 'd', application_id: '900000000000000002', public_key: '' },
  http: { shared_secret: HTTP_SECRET },
};

/** Stores an enabled channel of OWNER that is connected with its product. Returns the ids of its deployment. */
export async function storeChannel(
  system: Pick<DeploymentsSystem, 'context' | 'sql'>,
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
  await system.sql(
    `insert into deployments (deployment_id, created_by, agent_id, type, status, name, metadata, revision, created_at, updated_at)
     values ($1, $2, $3, 'channel', 'enabled', 'Desk', '{}', 1, $4, $4)`,
    [deploymentId, OWNER.userId, AGENT, now],
  );
  await system.sql(
    `insert into channels (deployment_id, owner_id, provider, config, sealed_credentials, credentials, is_enabled, identity)
     values ($1, $2, $3, $4, $5, '[]', true, $6)`,
    [
      ...[deploymentId, OWNER.userId, provider],
      ...[JSON.stringify({ ...defaultConfig(provider), ...config }), sealed, bot && JSON.stringify(bot)],
    ],
  );
  return { deploymentId, agentId: AGENT };
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
