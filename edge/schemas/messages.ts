import { Type } from 'typebox';
import { count, id, text, time } from './common.ts';

export const MessageShape = Type.Object(
  {
    event_id: id('evt', 'the event that holds it'),
    seq: count('Its place in the journal.'),
    role: Type.Enum(['user', 'agent']),
    content: Type.Array(
      Type.Object({ type: text('text, or another kind of part.') }, { additionalProperties: true }),
      { examples: [[{ type: 'text', text: 'Hello!' }]] },
    ),
    turn_id: id('trn', 'its turn'),
    message_id: Type.Optional(id('msg', 'the message of the agent')),
    created_at: time('When it was said.'),
  },
  { title: 'Message' },
);

/** A user.message or agent.message event as a message. */
export function shownMessage(json: string) {
  const { event_id, seq, type, turn_id, created_at, data } = JSON.parse(json);
  return {
    event_id,
    seq,
    role: type === 'user.message' ? 'user' : 'agent',
    content: data.content,
    turn_id,
    message_id: data.message_id,
    created_at,
  };
}
