import type { AssistantContent, ModelMessage, UserContent } from 'ai';
import type { Event } from '../../proto/gen/ahs/sessions/v1/sessions.ts';

export interface History {
  /** What the model is told: the turns up to this one in the order they were asked for. */
  messages: ModelMessage[];
  /** The finish reason of the answer that this turn already has, from an attempt whose end got lost. */
  answered: string | undefined;
}

type Message =
  | { type: 'user.message'; turn_id?: string; data: { content: UserContent } }
  | { type: 'agent.message'; turn_id?: string; data: { content: AssistantContent; finish_reason: string } };

/**
 * Turns a session's `user.message` and `agent.message` events, oldest first, into what a model is told.
 * A message may have been sent while an earlier turn was still at work: the answers of a turn stand behind
 * its own question, and turns that wait behind this one are not seen.
 */
export function historyOf(events: readonly Event[], turnId: string): History {
  const turns = new Map<string, Message[]>();
  let turn = '';
  for (const event of events) {
    const message = JSON.parse(event.json) as Message;
    turn = message.turn_id ?? turn;
    const known = turns.get(turn);
    if (known) known.push(message);
    else turns.set(turn, [message]);
  }
  const messages: ModelMessage[] = [];
  for (const [id, members] of turns) {
    for (const member of members) {
      const told = modelMessage(member);
      if (told) messages.push(told);
    }
    if (id === turnId) break;
  }
  const last = turns.get(turnId)?.at(-1);
  return { messages, answered: last?.type === 'agent.message' ? last.data.finish_reason : undefined };
}

/** Undefined for an answer without any text: providers refuse those. */
function modelMessage({ type, data }: Message): ModelMessage | undefined {
  const text = onlyText(data.content);
  if (type === 'user.message') return { role: 'user', content: text ?? data.content };
  return text === '' ? undefined : { role: 'assistant', content: text ?? data.content };
}

/** The text of a message that has a single part, which is how nearly all of them are. */
function onlyText(content: UserContent | AssistantContent): string | undefined {
  if (typeof content === 'string') return content;
  const [part] = content;
  return content.length === 1 && part?.type === 'text' ? part.text : undefined;
}
