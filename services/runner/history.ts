import type { JSONValue } from '@ai-sdk/provider';
import type { AssistantContent, ModelMessage, UserContent } from 'ai';
import type { Event } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { resultsMessage, type Step, stepOf } from './step.ts';

export interface History {
  /** What the model is told: the turns up to this one in the order they were asked for. */
  messages: ModelMessage[];
  /** The last step this turn has kept, in earlier attempts; what came of its calls is not among the messages yet. */
  last: Step | undefined;
  /** The ids of all tool calls of this turn. */
  callIds: Set<string>;
}

type Message =
  | { type: 'user.message'; turn_id?: string; data: { content: UserContent } }
  | { type: 'agent.message'; turn_id?: string; data: { content: AssistantContent; finish_reason: string } }
  | {
      type: 'agent.tool_result';
      turn_id?: string;
      data: { tool_use_id: string; output: JSONValue; is_error: boolean; edited_input?: unknown };
    };

/**
 * Turns a session's `user.message`, `agent.message` and `agent.tool_result` events, oldest first, into what a
 * model is told. A message may have been sent while an earlier turn was still at work: the answers of a turn stand
 * behind its own question, and turns that wait behind this one are not seen.
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
    const told = createTelling(messages);
    for (const member of members) told.add(member);
    if (id === turnId) return { messages, last: told.last, callIds: told.callIds };
    told.close();
  }
  return { messages, last: undefined, callIds: new Set() };
}

/** Tells one turn: the results of a step stand together behind it. */
function createTelling(messages: ModelMessage[]) {
  let step: Step | undefined;
  const callIds = new Set<string>();

  function close(): void {
    if (step && step.calls.length > 0) messages.push(resultsMessage(step));
    step = undefined;
  }

  return {
    callIds,
    close,
    get last() {
      return step;
    },
    add({ type, data }: Message): void {
      if (type === 'agent.tool_result') {
        const { tool_use_id, output, is_error, edited_input } = data;
        step?.results.set(tool_use_id, { output, isError: is_error, editedInput: edited_input });
        return;
      }
      close();
      const message = type === 'user.message' ? userMessage(data.content) : assistantMessage(data.content);
      if (message) messages.push(message);
      if (type === 'user.message') return;
      step = stepOf(data.content, data.finish_reason);
      for (const { toolUseId } of step.calls) callIds.add(toolUseId);
    },
  };
}

function userMessage(content: UserContent): ModelMessage {
  return { role: 'user', content: onlyText(content) ?? content };
}

/** Undefined for an answer that says nothing: providers refuse those. */
export function assistantMessage(content: AssistantContent): ModelMessage | undefined {
  const text = onlyText(content);
  return text === '' || content.length === 0 ? undefined : { role: 'assistant', content: text ?? content };
}

/** The text of a message that has a single part, which is how nearly all of them are. */
function onlyText(content: UserContent | AssistantContent): string | undefined {
  if (typeof content === 'string') return content;
  const [part] = content;
  return content.length === 1 && part?.type === 'text' && !part.providerOptions ? part.text : undefined;
}
