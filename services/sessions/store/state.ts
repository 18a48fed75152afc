import { type DatabaseSession, statement } from '../../../lib/db/database.ts';
import type { SessionState, TurnState } from '../domain/state.ts';
import { SESSION_IDS } from './columns.ts';
import { readRequests } from './turn-requests.ts';
import { readOpenModelRequest, type TurnUsageRow, turnUsageOf, type UsageRow, usageOf } from './usage.ts';

/** Locks the heads in id order, so that two transactions never deadlock. */
const LOCK = statement(
  'sessions.lock',
  'select from heads where session_id = any($1) order by session_id for update',
);

const LOCK_UNLOCKED = statement(
  'sessions.lock_unlocked',
  'select session_id from heads where session_id = any($1) order by session_id for update skip locked',
);

export const HEAD_COLUMNS = `
  h.session_id, s.owner_id, s.agent_id, s.agent_version, s.archived_at is not null as archived,
  s.deleted_at is not null as deleted, s.title is not null as titled, s.overrides as session_overrides, h.last_seq, h.status,
  h.stop_reason, h.queued_turns, h.queue_held, h.fence, h.has_signals,
  h.input_tokens, h.output_tokens, h.cached_input_tokens, h.cache_write_tokens, h.reasoning_tokens, h.estimated, h.steps, h.tool_calls, h.active_ms, h.tools_offered_sha256, h.context`;

export const TURN_COLUMNS = `
  t.turn_id, t.position, t.kind, t.status as turn_status, t.ready, t.wake_at, t.attempt, t.failures, t.fallback_model, t.fence as turn_fence,
  t.report_seq, t.runner_id, t.lease_until, t.open_message_id, t.traceparent, t.calls, t.credential_uses, t.step_after, t.settled_attempt,
  t.input_tokens as turn_input_tokens, t.output_tokens as turn_output_tokens,
  t.cached_input_tokens as turn_cached_input_tokens, t.cache_write_tokens as turn_cache_write_tokens,
  t.reasoning_tokens as turn_reasoning_tokens, t.estimated as turn_estimated, t.steps as turn_steps,
  t.tool_calls as turn_tool_calls, t.active_ms as turn_active_ms, t.open_model_request, t.error, t.overrides, t.output, t.started_at, t.finished_at`;

/** Whether queued messages steer the turn `t`. */
export const IS_STEERED = `exists (
     select from turns q
     where q.owner_id = t.owner_id and q.session_id = t.session_id and q.finished_at is null and q.status = 'queued'
       and q.steers_turn_id = t.turn_id
   )`;

/**
 * Reads the rows that the locks protect. This is a separate statement, because a statement that both waits for a lock
 * and joins would see the other tables as they were before the wait.
 */
const READ = statement(
  'sessions.state',
  `select ${HEAD_COLUMNS}, n.turn_id as next_turn_id, n.position as next_position,
     h.queued_turns > 0 and ${IS_STEERED} as is_steered, ${TURN_COLUMNS}
   from (${SESSION_IDS}) i
   join heads h using (session_id)
   join sessions s using (session_id)
   left join turns t on t.session_id = h.session_id and t.status in ('in_progress', 'blocked')
   left join lateral (
     select turn_id, position from turns q
     where q.owner_id = s.owner_id and q.session_id = h.session_id and q.finished_at is null and q.status = 'queued'
     order by position limit 1
   ) n on h.queued_turns > 0`,
);

/**
 * Locks these heads, waiting if necessary. No other transaction changes the sessions, their turns or their journals
 * until this one ends.
 */
export async function lockHeads(tx: DatabaseSession, sessionIds: string[]): Promise<void> {
  await tx.rows(LOCK, [sessionIds]);
}

/** Locks these sessions until the transaction ends, waiting if necessary. Returns the states of those that exist. */
export async function lockStates(
  tx: DatabaseSession,
  sessionIds: string[],
): Promise<Map<string, SessionState>> {
  const [, rows] = await Promise.all([lockHeads(tx, sessionIds), tx.rows<StateRow>(READ, [sessionIds])]);
  return new Map(rows.map((row) => [row.session_id, stateOf(row)]));
}

/** Locks those of these heads that no other transaction has locked, without waiting. Returns their session ids. */
export async function lockUnlockedHeads(tx: DatabaseSession, sessionIds: string[]): Promise<Set<string>> {
  const heads = await tx.rows<{ session_id: string }>(LOCK_UNLOCKED, [sessionIds]);
  return new Set(heads.map((row) => row.session_id));
}

/**
 * Locks those of these sessions that no other transaction has locked, without waiting. Returns their states, and the
 * ids of the sessions that were skipped. A session that does not exist is in neither.
 */
export async function lockUnlockedStates(
  tx: DatabaseSession,
  sessionIds: string[],
): Promise<{ states: Map<string, SessionState>; skipped: Set<string> }> {
  const [locked, rows] = await Promise.all([
    lockUnlockedHeads(tx, sessionIds),
    tx.rows<StateRow>(READ, [sessionIds]),
  ]);
  const states = new Map<string, SessionState>();
  const skipped = new Set<string>();
  for (const row of rows) {
    if (locked.has(row.session_id)) states.set(row.session_id, stateOf(row));
    else skipped.add(row.session_id);
  }
  return { states, skipped };
}

export interface TurnRow extends TurnUsageRow {
  turn_id: string;
  position: number;
  kind: string | null;
  turn_status: TurnState['status'];
  ready: boolean;
  wake_at: Date | null;
  attempt: number;
  failures: number;
  fallback_model: string | null;
  turn_fence: number;
  report_seq: number;
  runner_id: string | null;
  lease_until: Date | null;
  open_message_id: string | null;
  traceparent: string | null;
  calls: string | null;
  credential_uses: string | null;
  step_after: number | null;
  settled_attempt: number;
  open_model_request: string | null;
  error: string | null;
  overrides: string | null;
  output: string | null;
  started_at: Date | null;
  finished_at: Date | null;
}

export interface HeadRow extends UsageRow {
  session_id: string;
  owner_id: string;
  agent_id: string;
  agent_version: number;
  archived: boolean;
  deleted: boolean;
  titled: boolean;
  session_overrides: string | null;
  last_seq: number;
  status: SessionState['status'];
  stop_reason: string | null;
  queued_turns: number;
  queue_held: boolean;
  fence: number;
  has_signals: boolean;
  tools_offered_sha256: string | null;
  context: string | null;
}

interface NextRow {
  next_turn_id: string | null;
  next_position: number | null;
  is_steered: boolean;
}

type StateRow = HeadRow & NextRow & (TurnRow | { [Column in keyof TurnRow]: null });

function stateOf(row: StateRow): SessionState {
  const { next_turn_id: turnId, next_position: position } = row;
  return {
    ...headOf(row),
    current: row.turn_id === null ? null : turnOf(row),
    next: turnId === null || position === null ? null : { turnId, position },
    isSteered: row.is_steered,
  };
}

/** The state of a session without its turns. */
export function headOf(row: HeadRow): SessionState {
  return {
    sessionId: row.session_id,
    ownerId: row.owner_id,
    agentId: row.agent_id,
    agentVersion: row.agent_version,
    archived: row.archived,
    deleted: row.deleted,
    hasTitle: row.titled,
    overridesJson: row.session_overrides,
    lastSeq: row.last_seq,
    status: row.status,
    stopReason: row.stop_reason === null ? null : JSON.parse(row.stop_reason),
    queuedTurns: row.queued_turns,
    queueHeld: row.queue_held,
    fence: row.fence,
    hasSignals: row.has_signals,
    usage: usageOf(row),
    toolsOfferedSha256: row.tools_offered_sha256,
    contextJson: row.context,
    current: null,
    next: null,
    isSteered: false,
  };
}

export function turnOf(row: TurnRow): TurnState {
  return {
    turnId: row.turn_id,
    position: row.position,
    kind: row.kind === 'compaction' ? 'compaction' : 'answer',
    status: row.turn_status,
    ready: row.ready,
    wakeAt: row.wake_at,
    attempt: row.attempt,
    lastProgressAttempt: row.settled_attempt,
    failures: row.failures,
    fallbackModel: row.fallback_model,
    fence: row.turn_fence,
    reportSeq: row.report_seq,
    runnerId: row.runner_id,
    leaseUntil: row.lease_until,
    openMessageId: row.open_message_id,
    stepAfter: row.step_after,
    ...readRequests(row.calls),
    credentialUses: row.credential_uses === null ? [] : JSON.parse(row.credential_uses),
    traceparent: row.traceparent,
    usage: turnUsageOf(row),
    openModelRequest: readOpenModelRequest(row.open_model_request),
    errorJson: row.error,
    overridesJson: row.overrides,
    outputJson: row.output,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  };
}
