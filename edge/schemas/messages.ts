import { Type } from 'typebox';
import { MessagePart, MessageSender, PinnedMark } from '../../lib/event-parts.ts';
import { count, id, time } from './common.ts';

export const MessageShape = Type.Object(
  {
    event_id: id('evt', 'the event of the message'),
    seq: count('The position of the event in the journal.'),
    role: Type.Enum(['user', 'agent']),
    content: Type.Array(MessagePart, { examples: [[{ type: 'text', text: 'Hello!' }]] }),
    sender: Type.Optional(MessageSender),
    pinned: Type.Optional(PinnedMark),
    turn_id: id('trn', 'the turn'),
    message_id: Type.Optional(id('msg', 'the message of the agent')),
    output: Type.Optional(Type.Unknown({ description: 'The structured output of the turn, if it has one.' })),
    created_at: time('The time of the message.'),
  },
  { title: 'Message' },
);

/** A user.message or agent.message event as a message. */
export function serializeMessage(json: string) {
  const { event_id, seq, type, turn_id, created_at, data } = JSON.parse(json);
  return {
    event_id,
    seq,
    role: type === 'user.message' ? 'user' : 'agent',
    content: data.content,
    sender: data.sender,
    pinned: data.pinned,
    turn_id,
    message_id: data.message_id,
    output: data.output,
    created_at,
  };
}
