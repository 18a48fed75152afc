import type { AgentRuntime } from '../../../../proto/gen/ahs/agents/v1/agents.ts';
import type { Event } from '../../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { compatible } from '../../../support/providers/compatible.ts';
import { type OutputPart, textsIn } from '../../../support/providers/protocol.ts';
import {
  openStrictProvider,
  type StrictProvider,
  type StrictRequest,
} from '../../../support/providers/strict-provider.ts';
import type { Journal } from '../fake-sessions.ts';
import { createRecordingTool } from '../recording-tool.ts';
import { openTestRunner, type RunnerUnderTest } from '../runner-fixture.ts';

export const SESSION = 'ses_00000000000000000000000001';

export interface Conversation extends AsyncDisposable {
  provider: StrictProvider;
  fixture: RunnerUnderTest;
  /** The journal of the session: messages, tool results and compactions. */
  history: Event[];
  /** Queues a turn behind the history of the conversation. */
  queue(content: string | object[], more?: object, version?: number): string;
  /** Queues a compaction of the history, before a message that is sent meanwhile. */
  compact(): string;
  /** Sends a message and waits for the end of its turn. `version` is that of the agent; by default the first one. */
  send(content: string | object[], more?: object, version?: number): Promise<Journal>;
  /** Adds the events of an ended turn to the history. */
  record(turnId: string): void;
}

interface ConversationOptions {
  window: number;
  runtime?: Partial<AgentRuntime>;
  /** The description of the tool. */
  about?: string;
  /** The size of the output of each tool call in bytes. */
  outputBytes?: (label: string) => number;
  answer?: (request: StrictRequest) => OutputPart[];
  summary?: (request: StrictRequest) => string | { cutAfter: string } | undefined;
  refusal?: (tokens: number, window: number) => string;
}

/** Opens a conversation of an agent with the tool `count` at a provider that counts tokens strictly. */
export async function openConversation(options: ConversationOptions): Promise<Conversation> {
  const { window, runtime, outputBytes = () => 0, answer = callThenAnswer, summary, refusal } = options;
  const stack = new AsyncDisposableStack();
  const provider = stack.use(await openStrictProvider({ window, answer, summary, refusal }));
  const tool = createRecordingTool({ effect: 'read' });
  if (options.about) tool.tool.kind = { ...tool.tool.kind, about: options.about };
  tool.answer = (label) => outputOf(label, outputBytes(label));
  const providers = compatible.settings(provider.url);
  const fixture = stack.use(await openTestRunner({ providers, tools: [tool.tool] }));
  const agentVersion = fixture.agents.add({
    ...{ model: compatible.model, system: 'You count.', maxSteps: 30 },
    ...runtime,
  });
  const history: Event[] = [];
  let turns = 0;

  const conversation: Conversation = {
    provider,
    fixture,
    history,
    queue(content, more = {}, version = agentVersion) {
      const turnId = `trn_${++turns}`;
      const seq = (history.at(-1)?.seq ?? 0) + 1;
      const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
      const data = { content: parts, ...more };
      const type = 'user.message';
      history.push({ seq, type, json: JSON.stringify({ seq, type, turn_id: turnId, data }) });
      fixture.sessions.queue({ turnId, sessionId: SESSION, messages: [...history], agentVersion: version });
      fixture.context.bus.publish('turns.ready', '');
      return turnId;
    },
    compact() {
      const turnId = `trn_${++turns}`;
      const compactsUpToSeq = (history.at(-1)?.seq ?? 0) + 1;
      const seq = compactsUpToSeq + 1;
      const data = { content: [{ type: 'text', text: 'Sent meanwhile.' }] };
      const type = 'user.message';
      history.push({ seq, type, json: JSON.stringify({ seq, type, turn_id: 'trn_later', data }) });
      const queued = { turnId, sessionId: SESSION, messages: [...history], agentVersion };
      fixture.sessions.queue({ ...queued, compactsUpToSeq });
      fixture.context.bus.publish('turns.ready', '');
      return turnId;
    },
    record(turnId) {
      history.splice(0, history.length, ...fixture.sessions.historyOf(turnId));
    },
    async send(content, more, version) {
      const turnId = conversation.queue(content, more, version);
      const journal = await fixture.waitForOutcome(turnId);
      conversation.record(turnId);
      return journal;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  return conversation;
}

/** A text of this many bytes that is not the same for different labels. */
export function outputOf(label: string, bytes: number): string {
  return `${label} ${'lorem ipsum '.repeat(Math.ceil(bytes / 12)).slice(0, bytes)}`;
}

let calls = 0;

/** Calls the tool as often as the message says (`call N`), in parallel, and then answers. */
export function callThenAnswer({ messages }: StrictRequest): OutputPart[] {
  const last = messages.at(-1);
  const words = textsIn(last?.content ?? '').join('');
  const count = last?.role === 'user' ? Number(/^call (\d+)/.exec(words)?.[1] ?? 0) : 0;
  if (count === 0) return [{ text: 'Done.' }];
  return Array.from({ length: count }, () => {
    const id = `call_${++calls}`;
    return { call: id, name: 'count', input: JSON.stringify({ label: id }) };
  });
}
