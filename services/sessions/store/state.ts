import { type Session, statement } from '../../../lib/db/database.ts';
import type { SessionState, TurnState } from '../domain/state.ts';

/** Locks the heads in id order, so that two groups never wait for each other in a circle. */
const LOCK = statement(
  'sessions.lock',
  'select from heads where session_id = any($1) order by session_id for update',
);

export const HEAD_COLUMNS = `
  h.session_id, s.owner_id, s.agent_id, s.agent_version, s.archived_at is not null as archived,
  s.deleted_at is not null as deleted, s.title is not null as titled, h.last_seq, h.status,
  h.stop_reason, h.queued_turns, h.fence,
  h.input_tokens, h.output_tokens, h.steps, h.tool_calls, h.active_ms`;

export const TURN_COLUMNS = `
  t.turn_id, t.position, t.status as turn_status, t.ready, t.wake_at, t.attempt, t.failures, t.fence as turn_fence,
  t.report_seq, t.runner_id, t.lease_until, t.open_message_id, t.traceparent, t.calls, t.step_after, t.settled_attempt,
  t.input_tokens as turn_input_tokens, t.output_tokens as turn_output_tokens, t.steps as turn_steps,
  t.tool_calls as turn_tool_calls, t.active_ms as turn_active_ms, t.error, t.started_at, t.finished_at`;

/**
 * Reads what the locks protect. It is a statement of its own: one that both waits for a lock and joins
 * would see the other tables as they were before the wait.
 */
const READ = statement(
  'sessions.state',
  `select ${HEAD_COLUMNS}, n.turn_id as next_turn_id, n.position as next_position, ${TURN_COLUMNS}
   from heads h
   join sessions s using (session_id)
   left join turns t on t.session_id = h.session_id and t.status in ('in_progress', 'blocked')
   left join lateral (
     select turn_id, position from turns q
     where q.owner_id = s.owner_id and q.session_id = h.session_id and q.finished_at is null and q.status = 'queued'
     order by position limit 1
   ) n on h.queued_turns > 0
   where h.session_id = any($1)`,
);

/** Nobody else changes these sessions, their turns or their journals until the transaction ends. */
export async function lockHeads(tx: Session, sessionIds: string[]): Promise<void> {
  await tx.rows(LOCK, [sessionIds]);
}

/** The states of these sessions, locked until the transaction ends. Those that do not exist are missing. */
export async function lockStates(tx: Session, sessionIds: string[]): Promise<Map<string, SessionState>> {
  const [, rows] = await Promise.all([lockHeads(tx, sessionIds), tx.rows<StateRow>(READ, [sessionIds])]);
  return new Map(rows.map((row) => [row.session_id, stateOf(row)]));
}

export interface TurnRow {
  turn_id: string;
  position: number;
  turn_status: TurnState['status'];
  ready: boolean;
  wake_at: Date | null;
  attempt: number;
  failures: number;
  turn_fence: number;
  report_seq: number;
  runner_id: string | null;
  lease_until: Date | null;
  open_message_id: string | null;
  traceparent: string | null;
  calls: string | null;
  step_after: number | null;
  settled_attempt: number;
  turn_input_tokens: number;
  turn_output_tokens: number;
  turn_steps: number;
  turn_tool_calls: number;
  turn_active_ms: number;
  error: string | null;
  started_at: Date | null;
  finished_at: Date | null;
}

export interface HeadRow {
  session_id: string;
  owner_id: string;
  agent_id: string;
  agent_version: number;
  archived: boolean;
  deleted: boolean;
  titled: boolean;
  last_seq: number;
  status: SessionState['status'];
  stop_reason: string | null;
  queued_turns: number;
  fence: number;
  input_tokens: number;
  output_tokens: number;
  steps: number;
  tool_calls: number;
  active_ms: number;
}

interface NextRow {
  next_turn_id: string | null;
  next_position: number | null;
}

type StateRow = HeadRow & NextRow & (TurnRow | { [Column in keyof TurnRow]: null });

function stateOf(row: StateRow): SessionState {
  const { next_turn_id: turnId, next_position: position } = row;
  return {
    ...headOf(row),
    current: row.turn_id === null ? null : turnOf(row),
    next: turnId === null || position === null ? null : { turnId, position },
  };
}

/** A session without its turns. */
export function headOf(row: HeadRow): SessionState {
  return {
    sessionId: row.session_id,
    ownerId: row.owner_id,
    agentId: row.agent_id,
    agentVersion: row.agent_version,
    archived: row.archived,
    deleted: row.deleted,
    titled: row.titled,
    lastSeq: row.last_seq,
    status: row.status,
    stopReason: row.stop_reason === null ? null : JSON.parse(row.stop_reason),
    queuedTurns: row.queued_turns,
    fence: row.fence,
    usage: {
      inputTokens: row.input_tokens,
      outputTokens: row.output_tokens,
      steps: row.steps,
      toolCalls: row.tool_calls,
      activeMs: row.active_ms,
    },
    current: null,
    next: null,
  };
}

export function turnOf(row: TurnRow): TurnState {
  return {
    turnId: row.turn_id,
    position: row.position,
    status: row.turn_status,
    ready: row.ready,
    wakeAt: row.wake_at,
    attempt: row.attempt,
    settledAttempt: row.settled_attempt,
    failures: row.failures,
    fence: row.turn_fence,
    reportSeq: row.report_seq,
    runnerId: row.runner_id,
    leaseUntil: row.lease_until,
    openMessageId: row.open_message_id,
    stepAfter: row.step_after,
    calls: row.calls === null ? [] : JSON.parse(row.calls),
    traceparent: row.traceparent,
    usage: {
      inputTokens: row.turn_input_tokens,
      outputTokens: row.turn_output_tokens,
      steps: row.turn_steps,
      toolCalls: row.turn_tool_calls,
      activeMs: row.turn_active_ms,
    },
    errorJson: row.error,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  };
}
