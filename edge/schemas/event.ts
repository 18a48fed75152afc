import { Type } from 'typebox';
import { EVENT_DATA, EventBase } from '../../lib/events.ts';

export const EVENT_EXAMPLE = {
  event_id: 'evt_01KAK3V9Q6W1X2Y3Z4A5B6C7D8',
  session_id: 'ses_01KAK3V9Q6W1X2Y3Z4A5B6C7D8',
  seq: 2,
  type: 'user.message',
  turn_id: 'trn_01KAK3V9Q6W1X2Y3Z4A5B6C7D8',
  created_at: '2026-01-01T12:00:00.000Z',
  actor: { type: 'user', id: 'usr_01KAK3V9Q6W1X2Y3Z4A5B6C7D8' },
  data: { content: [{ type: 'text', text: 'Hello!' }] },
};

/** `turn.started` becomes `TurnStartedEvent`. */
const titleOf = (type: string) =>
  `${type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;

/** The schema of each row of the event table. */
const eventSchemas = Object.entries(EVENT_DATA).map(([type, data]) => ({
  title: titleOf(type),
  allOf: [
    EventBase,
    {
      type: 'object',
      required: ['type', 'data'],
      properties: { type: { type: 'string', const: type }, data },
    },
  ],
}));

/** An event as the API returns it in lists, streams and exports: a union over `type`. */
export const EventShape = Type.Unsafe<object>({
  title: 'Event',
  description:
    'An event of a session. `type` determines the schema of `data`. A newer release may add types. An event whose type is not ' +
    'listed here has the members of `EventBase`, a `type` and an object as `data`; clients skip it and continue after its `seq`.',
  anyOf: eventSchemas,
  discriminator: { propertyName: 'type' },
  examples: [EVENT_EXAMPLE],
});

/** The frames of an event stream that are no events. They have no id, so a client never resumes after one. */
const CaughtUpFrame = Type.Object(
  {
    type: Type.Literal('stream.caught_up'),
    seq: Type.Integer({ minimum: 0, description: 'The seq of the newest event.' }),
  },
  {
    title: 'CaughtUpFrame',
    description:
      'All existing events have been sent. Sent once when the stream becomes live, and again after the reader has fallen behind.',
  },
);
const DrainingFrame = Type.Object(
  {
    type: Type.Literal('stream.draining'),
    reconnect_after_ms: Type.Integer({
      minimum: 0,
      description: 'Milliseconds to wait before reconnecting.',
    }),
  },
  {
    title: 'DrainingFrame',
    description: 'The stream ends. Reconnect with `Last-Event-ID` to receive the following events.',
  },
);

/** The `data` of a frame of an event stream. */
export const StreamItemShape = Type.Union([EventShape, CaughtUpFrame, DrainingFrame], {
  title: 'StreamItem',
  description: 'The JSON of one `data` of an event stream: an event, or a control frame, which has no id.',
});
