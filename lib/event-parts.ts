import { type Static, type TSchema, Type } from 'typebox';
import { ACTION_KINDS, CHANNEL_PROVIDERS, PROTOCOLS } from './event-types.ts';

/* The shapes that events of several types share. */

export const text = Type.String();
export const count = Type.Integer({ minimum: 0 });
export const time = Type.String({ format: 'date-time' });
export const json = Type.Unknown({ description: 'Any JSON value, stored unchanged.' });
export const optional = Type.Optional;
export const data = <Members extends Record<string, TSchema>>(members: Members) => Type.Object(members);

const part = <Name extends string, Members extends Record<string, TSchema>>(
  type: Name,
  title: string,
  members: Members,
) =>
  Type.Object(
    {
      type: Type.Literal(type),
      ...members,
      providerOptions: optional(
        Type.Record(text, Type.Unknown(), {
          description: 'What the provider needs back in the next request.',
        }),
      ),
    },
    { title },
  );

/** The bytes of images and files are stored outside of the journal. */
const STORED = {
  media_type: Type.String({ description: 'For example image/png.' }),
  name: optional(Type.String({ description: 'The file name.' })),
  sha256: Type.String({ description: 'Lowercase hexadecimal. `GET …/parts/{sha256}` returns the bytes.' }),
  size: Type.Integer({ minimum: 0, description: 'The size in bytes.' }),
};

/**
 * The parts of messages. The parts of a model have the member names of the model library. The API document, its generated
 * clients and `EventData` are derived from this union, so a new part type needs one row.
 */
export const MessagePart = Type.Union(
  [
    part('text', 'MessageText', { text }),
    part('reasoning', 'MessageReasoning', { text }),
    part('tool-call', 'MessageToolCall', { toolCallId: text, toolName: text, input: json }),
    part('image', 'MessageImage', STORED),
    part('file', 'MessageFile', {
      media_type: optional(STORED.media_type),
      name: STORED.name,
      sha256: optional(STORED.sha256),
      size: optional(STORED.size),
      data: optional(
        Type.String({
          description:
            'Only of a file that a model has made: its URL elsewhere, or in answers of older releases the bytes as Base64.',
        }),
      ),
      mediaType: optional(Type.String({ description: 'Only with `data`.' })),
    }),
  ],
  {
    title: 'MessagePart',
    description:
      'A part of a message. A newer release may add types; clients show what they know and ignore other parts.',
    discriminator: { propertyName: 'type' },
  },
);
export type MessagePart = Static<typeof MessagePart>;
export const Content = Type.Array(MessagePart);

export const Failure = Type.Object({ code: text, message: text });

/** Absent in events of older releases. */
export const TOKEN_DETAILS = {
  cached_input_tokens: optional(count),
  cache_write_tokens: optional(count),
  reasoning_tokens: optional(count),
  estimated: optional(
    Type.Boolean({
      description: 'Whether a part of the tokens is estimated, because a model request was cut or failed.',
    }),
  ),
};

export const ModelFallback = Type.Object(
  {
    reason: Failure,
    to: Type.Union([text, Type.Null()], {
      description: 'The model with which the turn continues. Null: no model is left, and the turn fails.',
    }),
    skipped: Type.Array(
      Type.Object({
        model: text,
        reason: Type.String({
          description:
            'The capability that the model lacks: `tools`, `images` or `structured_output`; `unknown_model`, because its ' +
            'provider is not configured; or `outage`, because its own retries have ended recently.',
        }),
      }),
      { description: 'The models of the list that cannot continue the turn.' },
    ),
  },
  {
    description:
      'Present when the retries of the model are spent and the agent has further models: the failure of the model, and the ' +
      'model that continues. Also present in the first request of an attempt that begins with another model, because the ' +
      'retries of the one before it were spent in an earlier turn: `to` is then the model of this request.',
  },
);

export const Usage = Type.Object(
  {
    input_tokens: count,
    output_tokens: count,
    ...TOKEN_DETAILS,
    steps: count,
    tool_calls: count,
    active_seconds: Type.Number({ minimum: 0 }),
  },
  { title: 'TurnUsage', description: 'The resources that a turn has used.' },
);

/** Why a session is idle. */
export const StopReason = Type.Object(
  {
    type: Type.Enum([
      'end_turn',
      'requires_action',
      'interrupted',
      'failed',
      'retries_exhausted',
      'budget_reached',
      'max_steps_reached',
      'refused',
    ]),
    /** For requires_action: the kind of action. */
    kind: optional(Type.Enum([...ACTION_KINDS])),
    /** For requires_action: the ids of the events that request the action: approval.requested or agent.tool_use. */
    blocking: optional(Type.Array(text)),
  },
  { title: 'StopReason', description: 'Why a session is idle.' },
);
export type StopReason = Static<typeof StopReason>;

/** What a person needs to know to decide an approval of kind `authorization` or `input`. It contains no secret. */
export const ApprovalDetails = Type.Object(
  {
    mcp_server_id: optional(
      Type.String({ description: 'mcp_…: the server of the call. Absent for a model key.' }),
    ),
    model_provider: optional(
      Type.String({
        description: 'Only for `authorization` of a turn: the model provider whose key the turn needs.',
      }),
    ),
    name: Type.String({ description: 'The name of the server, or of the model provider.' }),
    host: optional(Type.String({ description: 'Only for `authorization`: the host of the server.' })),
    reason: optional(
      Type.String({
        description:
          'Only for `authorization`: why there is no credential, for example `not_connected`, `expired`, `refused` or ' +
          '`unavailable`.',
      }),
    ),
    who: optional(
      Type.Enum(['you', 'administrator'], {
        description: 'Only for `authorization`: who can provide the credential.',
      }),
    ),
    scopes: optional(
      Type.Array(text, { description: 'Only for the reason `scope`: the scopes that the server demands.' }),
    ),
    message: optional(Type.String({ description: 'Only for `input`: the text of the server.' })),
    form: optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description: 'Only for `input`: the form as a flat JSON Schema object, as `ask_user` has it.',
        },
      ),
    ),
    url: optional(
      Type.String({ description: 'Only for `input`: the link that the user opens, instead of a form.' }),
    ),
  },
  {
    title: 'ApprovalDetails',
    description:
      'The server or model provider of an approval of kind `authorization` or `input`, and what it needs. Message, form and ' +
      'link are content of the server.',
  },
);

export type ApprovalDetails = Static<typeof ApprovalDetails>;

/** The person who has written a message in a messaging product. */
export const MessageSender = Type.Object(
  {
    provider: Type.Enum([...CHANNEL_PROVIDERS]),
    external_id: Type.String({ description: 'The id of the account in the product.' }),
    name: Type.String({
      description: 'The display name on one line, without brackets, at most 80 characters.',
    }),
    user_id: optional(
      Type.String({ description: 'usr_…: the linked user. Absent if the account is not linked.' }),
    ),
    group: Type.Boolean({
      description: 'Several people write in the conversation. The model gets the message as `Name: text`.',
    }),
  },
  { title: 'MessageSender', description: 'The person who has written a message in a messaging product.' },
);
export type MessageSender = Static<typeof MessageSender>;

/** Of a message that the model always gets. Absent in others. */
export const PinnedMark = Type.Boolean({
  description: 'True if the message stays in the input of models as it is. Absent otherwise.',
  examples: [true],
});

/** The originator of an event. */
export const Actor = Type.Object(
  {
    type: Type.Enum(['user', 'agent', 'system', 'trigger', 'schedule', 'channel', ...PROTOCOLS]),
    id: text,
  },
  {
    title: 'Actor',
    description:
      'The originator of an event. For mcp, openai and a2a, the id is that of the token (`tok_…`), or of the user (`usr_…`) ' +
      'for credentials of other kinds.',
  },
);
export type Actor = Static<typeof Actor>;
