import { type Static, Type } from 'typebox';
import { CHANNEL_PROVIDERS } from '../../../lib/event-types.ts';
import { Secret } from '../../../lib/secret.ts';
import type { CredentialSummary } from '../../../proto/gen/ahs/deployments/v1/channels.ts';
import type { Deployment } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import {
  closed,
  Metadata,
  NULL,
  nullable,
  optional,
  revision,
  serializeTime,
  serializeTimeOrNull,
  text,
  time,
} from '../common.ts';
import { ChannelConfigBody, ChannelConfigShape, serializeChannelConfig } from './channel-config.ts';
import { deploymentMembers } from './webhooks.ts';

const provider = Type.Enum([...CHANNEL_PROVIDERS], {
  title: 'ChannelProvider',
  description: 'The messaging product. `http` joins any other product.',
});

const name = text('The display name.', {
  title: 'ChannelName',
  minLength: 1,
  maxLength: 200,
  examples: ['Support in Slack'],
});

const credential = (description: string) => optional(text(description, { minLength: 1, maxLength: 4_096 }));

export const ChannelCredentialsBody = closed(
  {
    bot_token: credential('Slack (`xoxb-…`), Telegram and Discord: the token of the bot.'),
    signing_secret: credential('Slack: the secret that signs requests of Slack.'),
    app_token: credential('Slack with `socket`: the app-level token (`xapp-…`).'),
    application_id: credential('Discord: the id of the application.'),
    public_key: credential('Discord: the public key of the application, in hexadecimal.'),
  },
  {
    title: 'ChannelCredentials',
    description: 'Stored encrypted and never returned. The secret of the provider `http` is generated.',
  },
);

export const ChannelCreationBody = closed(
  {
    type: Type.Literal('channel'),
    provider,
    name,
    config: optional(ChannelConfigBody),
    credentials: optional(ChannelCredentialsBody),
    metadata: optional(Metadata),
  },
  { title: 'NewChannel' },
);

const connection = Type.Object(
  {
    mode: Type.Enum(['http', 'socket', 'polling', 'gateway', 'pull']),
    state: Type.Enum(['connected', 'connecting', 'failed', 'off'], {
      description: '`failed` is not tried again before the channel is changed.',
    }),
    since: time('The time of the last change of the state.'),
    last_event_at: nullable(time('The time of the last event.'), NULL),
    last_error: nullable(text('The last problem, and its remedy.'), NULL),
    bot_name: nullable(text('The bot as the product names it.', { examples: ['builder'] })),
  },
  { title: 'ChannelConnection', description: 'The connection with the product.' },
);

const members = {
  ...deploymentMembers,
  type: Type.Literal('channel'),
  provider,
  name,
  config: ChannelConfigShape,
  credentials: Type.Unsafe<object>({
    title: 'SetChannelCredentials',
    type: 'object',
    additionalProperties: {
      type: 'object',
      required: ['set', 'hint', 'updated_at'],
      properties: {
        set: { type: 'boolean', const: true },
        hint: { type: ['string', 'null'], description: 'The last characters.', examples: ['…abcd'] },
        updated_at: { type: 'string', format: 'date-time' },
      },
    },
    description: 'The credentials that are set, by name, without their values.',
    examples: [{ bot_token: { set: true, hint: '…abcd', updated_at: '2026-01-01T12:00:00.000Z' } }],
  }),
  callback_url: text('The URL to which the product sends events with the mode `http`.', {
    examples: ['http://127.0.0.1:8080/api/v1/deployments/dep_01KAK3V9Q6W1X2Y3Z4A5B6C7D8/callback'],
  }),
  connection,
  warnings: Type.Array(text('A fact to consider.'), {
    description: 'For example, that anyone can talk to the agent.',
    examples: [[]],
  }),
  metadata: Metadata,
  revision,
  updated_at: time('The time of the last change.'),
};

export const ChannelShape = Type.Object(members, { title: 'Channel' });

export const CreatedChannelShape = Type.Object(
  {
    ...members,
    shared_secret: nullable(
      text(
        'Only of the provider `http`: the key of its signatures. It is returned only once, in this response.',
      ),
      NULL,
    ),
  },
  { title: 'CreatedChannel' },
);

/** The secrets of a request by name. Undefined when it has none. */
export function channelSecretsOf(
  credentials: Static<typeof ChannelCredentialsBody> | undefined,
): Record<string, Secret> | undefined {
  if (credentials === undefined) return undefined;
  const entries = Object.entries(credentials).map(([key, value]) => [key, new Secret(value)] as const);
  return Object.fromEntries(entries);
}

const serializeCredential = ({ name: key, hint, updatedAt }: CredentialSummary) =>
  [key, { set: true, hint: hint === '' ? null : `…${hint}`, updated_at: serializeTime(updatedAt) }] as const;

export function serializeChannel(deployment: Deployment) {
  const { channel } = deployment;
  const { connection: state } = channel ?? {};
  return {
    deployment_id: deployment.deploymentId,
    agent_id: deployment.agentId,
    agent_name: deployment.agentName || null,
    type: deployment.type,
    provider: channel?.provider,
    name: deployment.name,
    status: deployment.status,
    config: serializeChannelConfig(channel?.config),
    credentials: Object.fromEntries((channel?.credentials ?? []).map(serializeCredential)),
    callback_url: channel?.callbackUrl,
    connection: {
      mode: state?.mode,
      state: state?.state,
      since: serializeTime(state?.since),
      last_event_at: serializeTimeOrNull(state?.lastEventAt),
      last_error: state?.lastError || null,
      bot_name: state?.botName || null,
    },
    warnings: channel?.warnings ?? [],
    metadata: deployment.metadata,
    revision: deployment.revision,
    created_by: deployment.createdBy,
    created_at: serializeTime(deployment.createdAt),
    updated_at: serializeTime(deployment.updatedAt),
  };
}
