import type { Usage } from '../gen/types.gen.ts';
import type { EventOf, LastingEvent } from './event.ts';
import { callKey, type Draft, type JournalView } from './view.ts';

export interface Said {
  kind: 'user' | 'agent' | 'thinking';
  key: string;
  seq: number;
  createdAt: string;
  text: string;
  /** Parts that are no text, as JSON. */
  others: unknown[];
  /** Still being said. */
  isDraft: boolean;
  /** Said while a turn was at work: one of its own begins with it, after that. */
  isQueued: boolean;
  turnId: string | undefined;
  /** Who has said it, of those who are no person at the console. */
  actor: LastingEvent['actor'];
}

export interface Asked {
  approvalId: string;
  kind: 'tool' | 'outcome_unknown' | 'input';
  expiresAt: string;
  decision: string | undefined;
  reason: string | undefined;
}

export interface Call {
  kind: 'call';
  key: string;
  seq: number;
  createdAt: string;
  turnId: string | undefined;
  toolUseId: string;
  name: string;
  input: unknown;
  /** What it was called with instead. */
  editedInput: unknown;
  permission: string;
  state: 'asked' | 'waiting' | 'running' | 'done' | 'failed';
  output: unknown;
  /** What it has printed so far. */
  progress: string;
  durationMs: number | undefined;
  approval: Asked | undefined;
}

export interface Notice {
  kind: 'notice';
  key: string;
  seq: number;
  createdAt: string;
  tone: 'plain' | 'warn' | 'bad';
  text: string;
}

export interface TurnEnd {
  kind: 'end';
  key: string;
  seq: number;
  createdAt: string;
  turnId: string | undefined;
  outcome: 'completed' | 'failed' | 'interrupted' | 'cancelled';
  error: { code: string; message: string } | undefined;
  usage: Usage | undefined;
}

/** Files that were changed one after another. */
export interface FileChanges {
  kind: 'files';
  key: string;
  seq: number;
  createdAt: string;
  files: { seq: number; path: string; change: 'created' | 'modified' | 'deleted' }[];
}

export type ChatItem = Said | Call | Notice | TurnEnd | FileChanges;

/**
 * A session as a conversation: made from its events alone. What was said behind a turn that was at work stands where its own
 * turn begins, so that an answer follows what it answers.
 */
export function chatOf({
  events,
  drafts,
  progress,
}: Pick<JournalView, 'events' | 'drafts' | 'progress'>): ChatItem[] {
  const items: ChatItem[] = [];
  const calls = new Map<string, Call>();
  const callsByApproval = new Map<string, Call>();
  const discarded = new Set<string>();
  for (const { type, data } of events) if (type === 'agent.message_discarded') discarded.add(data.message_id);
  const queued = new Set<string>();
  for (const { type, turn_id: turnId } of events) if (type === 'turn.queued' && turnId) queued.add(turnId);
  const held = new Map<string, Said[]>();
  let working: string | undefined;
  const callAt = (event: LastingEvent, toolUseId: string) => calls.get(callKey(event.turn_id, toolUseId));

  for (const event of events) {
    const base = { key: event.event_id, seq: event.seq, createdAt: event.created_at };
    const notice = (text: string, tone: Notice['tone'] = 'plain') =>
      items.push({ kind: 'notice', ...base, text, tone });
    const { turn_id: turnId = '' } = event;
    if (/^turn\.(started|completed|failed|interrupted|cancelled)$/.test(event.type)) {
      items.push(...(held.get(turnId) ?? []));
      held.delete(turnId);
      queued.delete(turnId);
      working = event.type === 'turn.started' ? turnId : undefined;
    }
    switch (event.type) {
      case 'user.message':
        if (queued.has(turnId)) held.set(turnId, [...(held.get(turnId) ?? []), ...saidIn(event)]);
        else items.push(...saidIn(event));
        break;
      case 'agent.message':
        items.push(...saidIn(event));
        break;
      case 'agent.thinking':
        if (!discarded.has(event.data.message_id)) items.push(...saidIn(event));
        break;
      case 'agent.tool_use': {
        const { tool_use_id: toolUseId, name, input, evaluated_permission: permission } = event.data;
        const call: Call = {
          kind: 'call',
          ...base,
          turnId: event.turn_id,
          toolUseId,
          name,
          input,
          editedInput: undefined,
          permission,
          state: 'waiting',
          output: undefined,
          progress: progress.get(callKey(event.turn_id, toolUseId)) ?? '',
          durationMs: undefined,
          approval: undefined,
        };
        calls.set(callKey(event.turn_id, toolUseId), call);
        items.push(call);
        break;
      }
      case 'agent.tool_dispatched': {
        const call = callAt(event, event.data.tool_use_id);
        if (call) call.state = 'running';
        break;
      }
      case 'agent.tool_result': {
        const call = callAt(event, event.data.tool_use_id);
        if (!call) break;
        call.state = event.data.is_error ? 'failed' : 'done';
        call.output = event.data.output;
        call.durationMs = event.data.duration_ms;
        call.editedInput = event.data.edited_input;
        break;
      }
      case 'approval.requested': {
        const { approval_id: approvalId, kind, expires_at: expiresAt, tool_use_id: toolUseId } = event.data;
        const call = callAt(event, toolUseId ?? '');
        if (!call) break;
        call.approval = { approvalId, kind, expiresAt, decision: undefined, reason: undefined };
        call.state = 'asked';
        callsByApproval.set(approvalId, call);
        break;
      }
      case 'approval.decided': {
        const call = callsByApproval.get(event.data.approval_id);
        if (!call?.approval) break;
        call.approval.decision = event.data.decision;
        call.approval.reason = event.data.reason;
        if (call.state === 'asked') call.state = 'waiting';
        break;
      }
      case 'turn.completed':
      case 'turn.failed':
      case 'turn.interrupted':
      case 'turn.cancelled':
        items.push({
          kind: 'end',
          ...base,
          turnId: event.turn_id,
          outcome: event.type.slice('turn.'.length) as TurnEnd['outcome'],
          error: event.type === 'turn.failed' ? event.data.error : undefined,
          usage: 'usage' in event.data ? event.data.usage : undefined,
        });
        // Nobody answers what nobody waits for.
        for (const call of calls.values())
          if (call.turnId === event.turn_id && isOpen(call)) call.state = 'failed';
        break;
      case 'file.created':
      case 'file.modified':
      case 'file.deleted': {
        const changed = { seq: event.seq, path: event.data.path, change: changeOf(event) };
        const last = items.at(-1);
        if (last?.kind === 'files') last.files.push(changed);
        else items.push({ kind: 'files', ...base, files: [changed] });
        break;
      }
      case 'session.error':
        if (event.data.retry_status === 'retrying')
          notice(`${event.data.error.message} (${event.data.error.code}). It is tried again.`, 'warn');
        break;
      case 'session.status_rescheduled':
        notice(`The turn goes on by itself: ${event.data.reason}.`, 'warn');
        break;
      case 'session.status_terminated':
        notice(`The session has been terminated: ${event.data.reason}.`, 'bad');
        break;
      case 'session.forked':
        notice(`Forked from ${event.data.from_session_id}, event ${event.data.from_seq}.`);
        break;
      case 'user.interrupt':
        notice('Interrupted by a person.');
        break;
    }
  }
  for (const draft of drafts) items.push(draftItem(draft));
  for (const said of [...held.values()].flat()) items.push({ ...said, isQueued: working !== undefined });
  return items;
}

const isOpen = ({ state }: Call) => state === 'asked' || state === 'waiting' || state === 'running';

function changeOf({ type }: EventOf<'file.created' | 'file.modified' | 'file.deleted'>) {
  return type.slice('file.'.length) as 'created' | 'modified' | 'deleted';
}

type SayingEvent = EventOf<'user.message' | 'agent.message' | 'agent.thinking'>;

function saidIn(event: SayingEvent): Said[] {
  const texts: string[] = [];
  const others: unknown[] = [];
  for (const part of event.data.content) {
    if (part.type === 'text' && typeof part.text === 'string') texts.push(part.text);
    // Calls and thoughts have events of their own.
    else if (!['tool-call', 'reasoning', 'tool-result'].includes(part.type)) others.push(part);
  }
  if (texts.length === 0 && others.length === 0) return [];
  return [
    {
      kind: event.type === 'user.message' ? 'user' : event.type === 'agent.message' ? 'agent' : 'thinking',
      key: event.event_id,
      seq: event.seq,
      createdAt: event.created_at,
      text: texts.join(''),
      others,
      isDraft: false,
      isQueued: false,
      turnId: event.turn_id,
      actor: event.actor,
    },
  ];
}

function draftItem({ messageId, turnId, text, seq, createdAt }: Draft): Said {
  const actor = { type: 'agent' as const, id: '' };
  return {
    kind: 'agent',
    key: messageId,
    seq,
    createdAt,
    text,
    others: [],
    isDraft: true,
    isQueued: false,
    turnId,
    actor,
  };
}
