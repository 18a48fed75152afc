import { type Session, statement } from '../../../lib/db/database.ts';
import type { Change } from '../domain/change.ts';
import type { SessionState } from '../domain/state.ts';
import { columns, joined, TEXTS } from './columns.ts';
import type { Entry } from './journal.ts';

/** A decision about a session, with its events already in place. */
export interface Decided {
  state: SessionState;
  change: Change;
  entry: Entry | undefined;
}

/**
 * Writes only about sessions that still stand where the decision found them, and says which those are. Heads are
 * locked in id order, so that two groups never wait for each other in a circle.
 */
const APPLY = statement(
  'sessions.apply',
  `with
   locked as (
     select session_id
     from heads h join (select unnest($2::text[]) as session_id, unnest($3::bigint[]) as last_seq) i
       using (session_id, last_seq)
     order by session_id for update of h
   ),
   head as (
     update heads h set last_seq = i.last_seq, status = i.status, stop_reason = i.stop_reason,
       current_turn_id = i.current_turn_id, queued_turns = i.queued_turns, fence = i.fence,
       input_tokens = i.input_tokens, output_tokens = i.output_tokens, steps = i.steps,
       tool_calls = i.tool_calls, active_ms = i.active_ms, updated_at = $1
     from (
       select unnest($2::text[]) as session_id, unnest($4::bigint[]) as last_seq, unnest($5::text[]) as status,
         unnest($6::json[]) as stop_reason, unnest($7::text[]) as current_turn_id,
         unnest($8::integer[]) as queued_turns, unnest($9::bigint[]) as fence,
         unnest($10::bigint[]) as input_tokens, unnest($11::bigint[]) as output_tokens, unnest($12::bigint[]) as steps,
         unnest($13::bigint[]) as tool_calls, unnest($14::bigint[]) as active_ms
     ) i
     join locked using (session_id)
     where h.session_id = i.session_id
   ),
   appended as (
     insert into journal (session_id, first_seq, last_seq, types, bytes, events)
     select session_id, expected + 1, last_seq, string_to_array(types, '|'), bytes, events
     from (
       select unnest($2::text[]) as session_id, unnest($3::bigint[]) as expected, unnest($4::bigint[]) as last_seq,
         unnest($15::text[]) as types, unnest($16::integer[]) as bytes, unnest(${TEXTS('$17')}) as events
     ) i
     join locked using (session_id)
     where last_seq > expected
   ),
   changed as (
     update turns t set status = i.status, ready = i.ready, wake_at = i.wake_at, attempt = i.attempt,
       failures = i.failures, fence = i.fence, report_seq = i.report_seq, runner_id = i.runner_id,
       -- A lease may have been renewed since the turn was read.
       lease_until = case when i.lease_until is null then null else greatest(t.lease_until, i.lease_until) end,
       open_message_id = i.open_message_id, calls = i.calls, step_after = i.step_after,
       settled_attempt = i.settled_attempt, input_tokens = i.input_tokens, output_tokens = i.output_tokens,
       steps = i.steps, tool_calls = i.tool_calls, active_ms = i.active_ms, error = i.error,
       started_at = i.started_at, finished_at = i.finished_at
     from (
       select unnest($18::text[]) as session_id, unnest($19::bigint[]) as position, unnest($20::text[]) as status,
         unnest($21::boolean[]) as ready, unnest($22::timestamptz[]) as wake_at, unnest($23::integer[]) as attempt,
         unnest($24::integer[]) as failures, unnest($25::bigint[]) as fence, unnest($26::integer[]) as report_seq,
         unnest($27::text[]) as runner_id, unnest($28::timestamptz[]) as lease_until,
         unnest($29::text[]) as open_message_id, unnest($30::bigint[]) as input_tokens,
         unnest($31::bigint[]) as output_tokens, unnest($32::bigint[]) as steps, unnest($33::bigint[]) as tool_calls,
         unnest($34::bigint[]) as active_ms, unnest($35::json[]) as error, unnest($36::timestamptz[]) as started_at,
         unnest($37::timestamptz[]) as finished_at, unnest($38::json[]) as calls, unnest($39::bigint[]) as step_after,
         unnest($40::integer[]) as settled_attempt
     ) i
     join locked using (session_id)
     where t.session_id = i.session_id and t.position = i.position
   ),
   promoted as (
     update turns t set ready = true
     from (select unnest($41::text[]) as session_id, unnest($42::bigint[]) as position) i
     join locked using (session_id)
     where t.session_id = i.session_id and t.position = i.position and t.wake_at is null
   ),
   queued as (
     insert into turns (session_id, position, turn_id, owner_id, agent_id, agent_version, priority, status, ready,
                        traceparent, created_at)
     select session_id, position, turn_id, owner_id, agent_id, agent_version, priority, 'queued', ready, traceparent, $1
     from (
       select unnest($43::text[]) as session_id, unnest($44::bigint[]) as position, unnest($45::text[]) as turn_id,
         unnest($46::text[]) as owner_id, unnest($47::text[]) as agent_id, unnest($48::integer[]) as agent_version,
         unnest($49::smallint[]) as priority, unnest($50::boolean[]) as ready, unnest($51::text[]) as traceparent
     ) i
     join locked using (session_id)
   )
   select session_id from locked`,
);

/**
 * Writes decisions about different sessions in one statement, and returns the ids of those it has written: of a
 * session that has changed since it was read, nothing is.
 */
export async function apply(
  session: Pick<Session, 'rows'>,
  decided: readonly Decided[],
  now: Date,
): Promise<Set<string>> {
  const written = await session.rows<{ session_id: string }>(APPLY, [
    now,
    ...heads(decided),
    ...turns(decided),
    ...promotions(decided),
    ...newTurns(decided),
  ]);
  return new Set(written.map((row) => row.session_id));
}

function heads(decided: readonly Decided[]) {
  const values = columns(
    decided,
    ({ state, change: { head }, entry }) => [
      state.sessionId,
      state.lastSeq,
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
      entry?.types.join('|') ?? null,
      entry?.bytes ?? null,
    ],
    15,
  );
  return [...values, joined(decided.map(({ entry }) => entry?.events ?? ''))];
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
      turn.calls.length === 0 ? null : JSON.stringify(turn.calls),
      turn.stepAfter,
      turn.settledAttempt,
    ],
    23,
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
