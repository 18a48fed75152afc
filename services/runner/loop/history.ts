import type { JSONValue } from '@ai-sdk/provider';
import type { ModelMessage, UserContent } from 'ai';
import type { MessageSender } from '../../../lib/event-parts.ts';
import type { Event } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { type AnswerPart, answerParts, userParts } from '../parts/reference.ts';
import { type ModelStep, modelStepOf, toolResultsMessage } from './model-step.ts';
import { type CheckedOutput, invalidOutputMessage } from './structured-output.ts';

interface TurnHistory {
  /** The messages for the model: all turns up to this one, in the order in which they were requested. */
  messages: ModelMessage[];
  /** The index of the message that began this turn. */
  ownMessage: number;
  /** The last step that earlier attempts of this turn journaled. `messages` does not hold the results of its calls. */
  lastStep: ModelStep | undefined;
  /** The model of the newest answer of this turn; undefined without one. */
  answeredBy: string | undefined;
  /** The ids of all tool calls of this turn. */
  callIds: Set<string>;
  /** Answers of this turn that do not match its output schema. `messages` has their problems behind them. */
  invalidOutputs: number;
}

/** A message of a user that was delivered into a running turn, in the form of the journal. */
export interface DeliveredMessage {
  data: UserMessage;
}

type MessageEvent =
  | { type: 'user.message'; turn_id?: string; data: UserMessage }
  | { type: 'agent.message'; turn_id?: string; data: AgentMessage }
  | {
      type: 'agent.tool_result';
      turn_id?: string;
      data: { tool_use_id: string; output: JSONValue; is_error: boolean; edited_input?: unknown };
    };

type UserMessage = { content: UserContent; sender?: Pick<MessageSender, 'name' | 'group'> };
type AgentMessage = { content: AnswerPart[]; finish_reason: string; model?: string } & (
  | CheckedOutput
  | object
);

/**
 * Converts the `user.message`, `agent.message` and `agent.tool_result` events of a session, oldest first, to model
 * messages. A user may send a message while an earlier turn is running, so events are grouped by turn: the answers of a
 * turn follow its own user message. Turns that are queued behind this one are left out.
 */
export function buildHistory(events: readonly Event[], turnId: string): TurnHistory {
  const turns = new Map<string, MessageEvent[]>();
  let turn = '';
  for (const event of events) {
    const message = JSON.parse(event.json) as MessageEvent;
    turn = message.turn_id ?? turn;
    const known = turns.get(turn);
    if (known) known.push(message);
    else turns.set(turn, [message]);
  }
  const messages: ModelMessage[] = [];
  for (const [id, turnEvents] of turns) {
    const ownMessage = messages.length;
    const builder = new TurnMessageBuilder(messages);
    for (const event of turnEvents) builder.add(event);
    const { lastStep, answeredBy, callIds, invalidOutputs } = builder;
    if (id === turnId) return { messages, ownMessage, lastStep, answeredBy, callIds, invalidOutputs };
    builder.flushResults();
  }
  const ownMessage = messages.length;
  const none = { lastStep: undefined, answeredBy: undefined, callIds: new Set<string>(), invalidOutputs: 0 };
  return { messages, ownMessage, ...none };
}

/** Appends the messages of one turn to `messages`. The results of a step form one message behind the step. */
class TurnMessageBuilder {
  readonly callIds = new Set<string>();
  lastStep: ModelStep | undefined;
  answeredBy: string | undefined;
  invalidOutputs = 0;
  readonly #messages: ModelMessage[];
  /** The message that began the turn was added. */
  #hasBegun = false;

  constructor(messages: ModelMessage[]) {
    this.#messages = messages;
  }

  add({ type, data }: MessageEvent): void {
    if (type === 'agent.tool_result') {
      const { tool_use_id, output, is_error, edited_input } = data;
      this.lastStep?.results.set(tool_use_id, { output, isError: is_error, editedInput: edited_input });
      return;
    }
    this.flushResults();
    if (type === 'user.message') {
      this.#messages.push(this.#hasBegun ? deliveredMessage({ data }) : userMessage(data));
      this.#hasBegun = true;
      return;
    }
    const message = assistantMessage(data.content);
    if (message) this.#messages.push(message);
    const checked = 'output' in data || 'output_error' in data ? (data as CheckedOutput) : undefined;
    if (checked && 'output_error' in checked) {
      this.invalidOutputs++;
      this.#messages.push(invalidOutputMessage(checked.output_error));
    }
    this.answeredBy = data.model;
    this.lastStep = modelStepOf(data.content, data.finish_reason, checked);
    for (const { toolUseId } of this.lastStep.calls) this.callIds.add(toolUseId);
  }

  flushResults(): void {
    if (this.lastStep && this.lastStep.calls.length > 0)
      this.#messages.push(toolResultsMessage(this.lastStep));
    this.lastStep = undefined;
  }
}

/**
 * A message that was delivered into the turn by steering it. The mark is for the rehearsal models, which go on with their
 * script; it is part of no request.
 */
export function deliveredMessage({ data }: DeliveredMessage): ModelMessage {
  return { ...userMessage(data), providerOptions: { rehearsal: { delivered: true } } };
}

function userMessage({ content, sender }: UserMessage): ModelMessage {
  const named = sender?.group ? withName(content, sender.name) : content;
  return { role: 'user', content: onlyText(named) ?? userParts(named) };
}

/** Names the sender in front of the message, because several people write in the conversation. */
function withName(content: UserContent, name: string): UserContent {
  if (typeof content === 'string') return `${name}: ${content}`;
  const [first, ...others] = content;
  if (first?.type === 'text') return [{ ...first, text: `${name}: ${first.text}` }, ...others];
  return [{ type: 'text', text: `${name}:` }, ...content];
}

/** Returns undefined for an empty answer: providers reject those. */
export function assistantMessage(content: AnswerPart[]): ModelMessage | undefined {
  const text = onlyText(content);
  if (text === '' || content.length === 0) return undefined;
  return { role: 'assistant', content: text ?? answerParts(content) };
}

/** The text of a message whose only part is a text, as in nearly all messages. */
function onlyText(content: UserContent | readonly AnswerPart[]): string | undefined {
  if (typeof content === 'string') return content;
  const [part] = content;
  return content.length === 1 && part?.type === 'text' && !part.providerOptions ? part.text : undefined;
}
