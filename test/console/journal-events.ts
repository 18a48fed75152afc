import type { ChatItem } from '../../console/journal/chat-items.ts';
import { Conversation } from '../../console/journal/conversation.ts';
import { type DurableEvent, isTransient, type JournalEvent } from '../../console/journal/event.ts';

export const START = Date.parse('2026-01-01T12:00:00.000Z');

export type EventSpec = [type: string, data?: object, turnId?: string];

/** An event whose data is assumed to match its type. */
export const eventFrom = (members: object) => members as JournalEvent;

/** Creates events that are 100 ms apart. An empty turn id stands for an event without a turn. */
export function journal(...specs: EventSpec[]): DurableEvent[] {
  return specs.map(([type, data = {}, turnId = 'trn_1'], index) => {
    const event = eventFrom({
      event_id: `evt_${index + 1}`,
      session_id: 'ses_1',
      seq: index + 1,
      type,
      ...(turnId === '' ? {} : { turn_id: turnId }),
      created_at: new Date(START + index * 100).toISOString(),
      actor: { type: 'agent', id: 'agt_1' },
      data: { ...data },
    });
    if (isTransient(event)) throw new Error(`${type} is a transient event`);
    return event;
  });
}

/** Returns the conversation of the events, without partial output. */
export const chatFrom = (events: readonly DurableEvent[]): ChatItem[] =>
  new Conversation().read({ events, drafts: [], progress: new Map() });

/** Returns the events as events of a user. */
export const byUser = (events: readonly DurableEvent[]): DurableEvent[] =>
  events.map((event) => ({ ...event, actor: { type: 'user', id: 'usr_1' } }));

export const text = (...parts: string[]) => ({
  content: parts.map((part) => ({ type: 'text', text: part })),
});

export const USE = {
  tool_use_id: 'call_1',
  name: 'bash',
  input: { command: 'ls' },
  evaluated_permission: 'ask',
};

export const APPROVAL_REQUESTED: EventSpec = [
  'approval.requested',
  {
    approval_id: 'apr_1',
    kind: 'tool',
    tool_use_id: 'call_1',
    tool_name: 'bash',
    expires_at: '2026-01-02T12:00:00.000Z',
  },
];

/** The event of a compaction that writes a summary; `data` has the other members. */
export const compacted = (data: object = {}): EventSpec => [
  'agent.context_compacted',
  {
    ...{ from_seq: 1, to_seq: 9, strategy: 'summarize', summary: 'Names: Ada.', kept: [] },
    ...{ tokens_before: 12_300, tokens_after: 4_100, ...data },
  },
];

export const retryingError = (code: string): EventSpec => [
  'session.error',
  { error: { code, message: 'Later.' }, retry_status: 'retrying' },
];
