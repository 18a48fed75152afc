import { type Static, Type } from 'typebox';
import type { ChannelConfig } from '../../../proto/gen/ahs/deployments/v1/channels.ts';
import { closed, flag, id, nullable, optional, text } from '../common.ts';

const MAX_IDS = 1_000;
const MAX_IDLE_SECONDS = 31_536_000;

const externalIds = (description: string) =>
  Type.Array(text('An id of the product.', { minLength: 1, maxLength: 200 }), {
    maxItems: MAX_IDS,
    description,
  });

const accessMembers = {
  mode: Type.Enum(['linked', 'list', 'anyone'], {
    title: 'ChannelAccessMode',
    description:
      '`linked`: people whose account is linked to a user who may use the agent. `list`: the people and places listed. ' +
      '`anyone`: everyone who can write to the bot.',
  }),
  people: externalIds('Accounts that may talk to the agent, with `list`.'),
  places: externalIds('Channels, chats or rooms in which everyone may talk to the agent, with `list`.'),
  allow_external: flag('Slack: whether users of other organizations count.', false),
};

const members = {
  mode: Type.Enum(['http', 'socket', 'polling', 'gateway', 'pull'], {
    title: 'ChannelMode',
    description:
      'How events arrive. Slack: `socket` (default) or `http`. Telegram: `polling` (default) or `http`. Discord: `gateway` ' +
      '(default) or `http`. The provider `http`: `pull`.',
  }),
  respond_to: Type.Enum(['mentions', 'all'], {
    title: 'RespondTo',
    description:
      'The messages of groups that count: mentions, replies to the bot and threads in which it takes part; or all.',
  }),
  owner: Type.Enum(['creator', 'sender'], {
    title: 'ChannelSessionOwner',
    description:
      'The owner of the sessions: the creator of the channel, or the linked user of the first message.',
  }),
  approvers: Type.Union(
    [
      Type.Enum(['owner', 'managers', 'initiator']),
      Type.Array(id('usr', 'a user who may decide'), { minItems: 1, maxItems: 100 }),
    ],
    {
      title: 'ChannelApprovers',
      description:
        'Who may decide approvals in the chat, with a linked account: the owner of the session, managers of the agent, the ' +
        'sender of the message, or the listed users.',
      examples: ['owner'],
    },
  ),
  busy: Type.Enum(['enqueue', 'interrupt'], {
    title: 'ChannelBusyPolicy',
    description: 'A message during a turn waits, or interrupts the turn.',
  }),
  edits: Type.Enum(['edit', 'final_only'], {
    title: 'ChannelEdits',
    description: 'Posts grow while the agent answers, or are sent when the answer is complete.',
  }),
  show_tools: Type.Enum(['none', 'status', 'list'], {
    title: 'ShowTools',
    description: 'Tool calls are hidden, shown while they run, or listed.',
  }),
  per_chat: flag('Whether a chat has one session. False: one session for each sender in it.'),
  files_in: flag('Whether files of messages are given to the agent.'),
  files_out: flag('Whether files that the agent writes below `outbox/` are sent.'),
  trust_email: flag(
    'Slack: whether an account with the verified e-mail of a user counts as linked to that user.',
    false,
  ),
  new_session_after_idle_seconds: nullable(Type.Integer({ minimum: 60, maximum: MAX_IDLE_SECONDS }), {
    title: 'NewSessionAfterIdle',
    description: 'A message after this many seconds without one starts a new session.',
    examples: [null],
  }),
  greeting: nullable(Type.String({ minLength: 1, maxLength: 2_000 }), {
    title: 'ChannelGreeting',
    description: 'The first post of each conversation.',
    examples: [null],
  }),
};

/** The members of a request. Omitted members have their defaults, or stay unchanged in a change. */
export const ChannelConfigBody = closed(
  {
    mode: optional(members.mode),
    respond_to: optional(members.respond_to),
    access: optional(
      closed(
        {
          mode: optional(accessMembers.mode),
          people: optional(accessMembers.people),
          places: optional(accessMembers.places),
          allow_external: optional(accessMembers.allow_external),
        },
        { title: 'NewChannelAccess' },
      ),
    ),
    owner: optional(members.owner),
    approvers: optional(members.approvers),
    busy: optional(members.busy),
    edits: optional(members.edits),
    show_tools: optional(members.show_tools),
    per_chat: optional(members.per_chat),
    files_in: optional(members.files_in),
    files_out: optional(members.files_out),
    trust_email: optional(members.trust_email),
    new_session_after_idle_seconds: optional(members.new_session_after_idle_seconds),
    greeting: optional(members.greeting),
  },
  { title: 'NewChannelConfig' },
);

export const ChannelConfigShape = Type.Object(
  { ...members, access: Type.Object(accessMembers, { title: 'ChannelAccess' }) },
  { title: 'ChannelConfig' },
);

const idsOf = (ids: readonly string[] | undefined) => (ids === undefined ? undefined : { ids: [...ids] });

function approversOf(approvers: Static<typeof ChannelConfigBody>['approvers']): ChannelConfig['approvers'] {
  if (approvers === undefined) return undefined;
  return typeof approvers === 'string'
    ? { policy: approvers, userIds: [] }
    : { policy: 'users', userIds: [...approvers] };
}

/** Converts the settings of a request. Null removes a setting: it becomes 0 or the empty text. */
export function channelConfigOf(body: Static<typeof ChannelConfigBody>): ChannelConfig {
  const { access } = body;
  const idleSeconds = body.new_session_after_idle_seconds;
  return {
    mode: body.mode,
    respondTo: body.respond_to,
    access: access && {
      mode: access.mode,
      people: idsOf(access.people),
      places: idsOf(access.places),
      allowExternal: access.allow_external,
    },
    owner: body.owner,
    approvers: approversOf(body.approvers),
    busy: body.busy,
    edits: body.edits,
    showTools: body.show_tools,
    perChat: body.per_chat,
    filesIn: body.files_in,
    filesOut: body.files_out,
    trustEmail: body.trust_email,
    newSessionAfterIdleSeconds: idleSeconds === null ? 0 : idleSeconds,
    greeting: body.greeting === null ? '' : body.greeting,
  };
}

export function serializeChannelConfig(config: ChannelConfig | undefined) {
  const { access, approvers } = config ?? {};
  return {
    mode: config?.mode,
    respond_to: config?.respondTo,
    access: {
      mode: access?.mode,
      people: access?.people?.ids ?? [],
      places: access?.places?.ids ?? [],
      allow_external: access?.allowExternal ?? false,
    },
    owner: config?.owner,
    approvers: approvers?.policy === 'users' ? approvers.userIds : approvers?.policy,
    busy: config?.busy,
    edits: config?.edits,
    show_tools: config?.showTools,
    per_chat: config?.perChat,
    files_in: config?.filesIn,
    files_out: config?.filesOut,
    trust_email: config?.trustEmail,
    new_session_after_idle_seconds: config?.newSessionAfterIdleSeconds || null,
    greeting: config?.greeting || null,
  };
}
