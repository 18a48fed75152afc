import { type Session, statement } from '../../../lib/db/database.ts';
import type { Change } from '../domain/change.ts';
import type { SessionState } from '../domain/state.ts';
import { columns, JSON_TEXTS, joined } from './columns.ts';
import type { Entry } from './journal.ts';

/** A decision about a locked session, with its events already in place. */
export interface Decided {
  state: SessionState;
  change: Change;
  entry: Entry | undefined;
}

const APPLY = statement(
  'sessions.apply',
  `with
   head as (
     update heads h set last_seq = i.last_seq, status = i.status, stop_reason = i.stop_reason,
       current_turn_id = i.current_turn_id, queued_turns = i.queued_turns, fence = i.fence,
       input_tokens = i.input_tokens, output_tokens = i.output_tokens, steps = i.steps,
       tool_calls = i.tool_calls, active_ms = i.active_ms, updated_at = $1
     from unnest($2::text[], $3::bigint[], $4::text[], $5::json[], $6::text[], $7::integer[], $8::bigint[],
                 $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[])
       as i (session_id, last_seq, status, stop_reason, current_turn_id, queued_turns, fence,
             input_tokens, output_tokens, steps, tool_calls, active_ms)
     where h.session_id = i.session_id
   ),
   appended as (
     insert into journal (session_id, first_seq, last_seq, types, bytes, events)
     select session_id, first_seq, last_seq, string_to_array(types, ','), bytes, events
     from unnest($14::text[], $15::bigint[], $16::bigint[], $17::text[], $18::integer[], ${JSON_TEXTS('$19')})
       as i (session_id, first_seq, last_seq, types, bytes, events)
   ),
   changed as (
     update turns t set status = i.status, ready = i.ready, wake_at = i.wake_at, attempt = i.attempt,
       failures = i.failures, fence = i.fence, report_seq = i.report_seq, runner_id = i.runner_id,
       lease_until = i.lease_until,
       open_message_id = i.open_message_id, input_tokens = i.input_tokens, output_tokens = i.output_tokens,
       steps = i.steps, tool_calls = i.tool_calls, active_ms = i.active_ms, error = i.error,
       started_at = i.started_at, finished_at = i.finished_at
     from unnest($20::text[], $21::bigint[], $22::text[], $23::boolean[], $24::timestamptz[], $25::integer[],
                 $26::integer[], $27::bigint[], $28::integer[], $29::text[], $30::timestamptz[], $31::text[],
                 $32::bigint[], $33::bigint[], $34::bigint[], $35::bigint[], $36::bigint[], $37::json[],
                 $38::timestamptz[], $39::timestamptz[])
       as i (session_id, position, status, ready, wake_at, attempt, failures, fence, report_seq, runner_id,
             lease_until, open_message_id, input_tokens, output_tokens, steps, tool_calls, active_ms, error,
             started_at, finished_at)
     where t.session_id = i.session_id and t.position = i.position
   ),
   promoted as (
     update turns t set ready = true
     from unnest($40::text[], $41::bigint[]) as i (session_id, position)
     where t.session_id = i.session_id and t.position = i.position and t.wake_at is null
   )
   insert into turns (session_id, position, turn_id, owner_id, agent_id, agent_version, priority, status, ready,
                      traceparent, created_at)
   select session_id, position, turn_id, owner_id, agent_id, agent_version, priority, 'queued', ready, traceparent, $1
   from unnest($42::text[], $43::bigint[], $44::text[], $45::text[], $46::text[], $47::integer[], $48::smallint[],
               $49::boolean[], $50::text[])
     as i (session_id, position, turn_id, owner_id, agent_id, agent_version, priority, ready, traceparent)`,
);

/** Writes decisions about different sessions in one statement. */
export async function apply(tx: Session, decided: readonly Decided[], now: Date): Promise<void> {
  await tx.change(APPLY, [
    now,
    ...heads(decided),
    ...entries(decided),
    ...turns(decided),
    ...promotions(decided),
    ...newTurns(decided),
  ]);
}

function heads(decided: readonly Decided[]) {
  return columns(
    decided,
    ({ state, change: { head }, entry }) => [
      state.sessionId,
      entry?.lastSeq ?? state.lastSeq,
      head.status,
      head.stopReason === null ? null : JSON.stringify(head.stopReason),
      head.currentTurnId,
      head.queuedTurns,
      head.fence,
      head.usage.inputTokens,
      head.usage.outputTokens,
      head.usage.steps,
      head.usage.toolCalls,
      head.usage.activeMs,
    ],
    12,
  );
}

function entries(decided: readonly Decided[]) {
  const rows = decided.flatMap(({ state, entry }) => (entry ? [{ sessionId: state.sessionId, entry }] : []));
  const texts = joined(rows.map(({ entry }) => entry.events));
  const values = columns(
    rows,
    ({ sessionId, entry }) => [sessionId, entry.firstSeq, entry.lastSeq, entry.types.join(), entry.bytes],
    5,
  );
  return [...values, texts];
}

function turns(decided: readonly Decided[]) {
  const rows = decided.flatMap(({ state, change }) =>
    change.turns.map((turn) => ({ sessionId: state.sessionId, turn })),
  );
  return columns(
    rows,
    ({ sessionId, turn }) => [
      sessionId,
      turn.position,
      turn.status,
      turn.ready,
      turn.wakeAt,
      turn.attempt,
      turn.failures,
      turn.fence,
      turn.reportSeq,
      turn.runnerId,
      turn.leaseUntil,
      turn.openMessageId,
      turn.usage.inputTokens,
      turn.usage.outputTokens,
      turn.usage.steps,
      turn.usage.toolCalls,
      turn.usage.activeMs,
      turn.errorJson,
      turn.startedAt,
      turn.finishedAt,
    ],
    20,
  );
}

function promotions(decided: readonly Decided[]) {
  const rows = decided.flatMap(({ state, change: { promote } }) =>
    promote === undefined ? [] : [{ sessionId: state.sessionId, position: promote }],
  );
  return columns(rows, ({ sessionId, position }) => [sessionId, position], 2);
}

function newTurns(decided: readonly Decided[]) {
  const rows = decided.flatMap(({ state, change: { newTurn }, entry }) =>
    newTurn && entry ? [{ state, newTurn, entry }] : [],
  );
  return columns(
    rows,
    ({ state, newTurn, entry }) => [
      state.sessionId,
      entry.firstSeq + newTurn.draft,
      newTurn.turnId,
      state.ownerId,
      state.agentId,
      state.agentVersion,
      newTurn.priority,
      newTurn.ready,
      newTurn.traceparent ?? null,
    ],
    9,
  );
}
