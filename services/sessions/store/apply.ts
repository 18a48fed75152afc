import { type DatabaseSession, type Statement, statement } from '../../../lib/db/database.ts';
import type { Change, NewTurn } from '../domain/change.ts';
import { type Outcome, outcomeOf } from '../domain/derived-state.ts';
import type { Signal } from '../domain/signals.ts';
import type { SessionState, TurnState } from '../domain/state.ts';
import { assignments, type Columns, columnList, columnNames, columnTable } from './columns.ts';
import type { JournalRow } from './journal.ts';
import { SIGNAL, SIGNAL_ORDER, type SignalRow, signalRows } from './signal-columns.ts';
import { requestsJson } from './turn-requests.ts';
import { openModelRequestJson } from './usage.ts';

/** A decision about a session together with the journal row that holds its events. */
export interface SessionChange {
  /** The state that the decision was made on. */
  state: SessionState;
  change: Change;
  /** Undefined when the change has no events. */
  row: JournalRow | undefined;
  signals: readonly Signal[];
}

const HEAD_KEY = {
  session_id: ['text', ({ state }) => state.sessionId],
  /** The head is changed only if this is still its last event. */
  expected_seq: ['bigint', ({ state }) => state.lastSeq],
} satisfies Columns<SessionChange>;

const HEAD_STATE = {
  last_seq: ['bigint', ({ state, row }) => row?.lastSeq ?? state.lastSeq],
  status: ['text', ({ change }) => change.head.status],
  stop_reason: ['json', ({ change: { head } }) => head.stopReason && JSON.stringify(head.stopReason)],
  current_turn_id: ['text', ({ change }) => change.head.currentTurnId],
  queued_turns: ['integer', ({ change }) => change.head.queuedTurns],
  queue_held: ['boolean', ({ change }) => change.head.queueHeld],
  fence: ['bigint', ({ change }) => change.head.fence],
  input_tokens: ['bigint', ({ change }) => change.head.usage.inputTokens],
  output_tokens: ['bigint', ({ change }) => change.head.usage.outputTokens],
  cached_input_tokens: ['bigint', ({ change }) => change.head.usage.cachedInputTokens],
  cache_write_tokens: ['bigint', ({ change }) => change.head.usage.cacheWriteTokens],
  reasoning_tokens: ['bigint', ({ change }) => change.head.usage.reasoningTokens],
  estimated: ['boolean', ({ change }) => change.head.usage.estimated],
  steps: ['bigint', ({ change }) => change.head.usage.steps],
  tool_calls: ['bigint', ({ change }) => change.head.usage.toolCalls],
  active_ms: ['bigint', ({ change }) => change.head.usage.activeMs],
  tools_offered_sha256: ['text', ({ change }) => change.head.toolsOfferedSha256],
  context: ['json', ({ change }) => change.head.contextJson],
} satisfies Columns<SessionChange>;

const JOURNAL = {
  types: ['text', ({ row }) => row?.types.join('|')],
  bytes: ['integer', ({ row }) => row?.bytes],
  events: ['json texts', ({ row }) => row?.events ?? ''],
} satisfies Columns<SessionChange>;

interface ChangedTurn {
  sessionId: string;
  turn: TurnState;
}

const TURN_KEY = {
  session_id: ['text', ({ sessionId }) => sessionId],
  position: ['bigint', ({ turn }) => turn.position],
} satisfies Columns<ChangedTurn>;

const TURN_LEASE = {
  lease_until: ['timestamptz', ({ turn }) => turn.leaseUntil],
} satisfies Columns<ChangedTurn>;

const TURN_STATE = {
  status: ['text', ({ turn }) => turn.status],
  ready: ['boolean', ({ turn }) => turn.ready],
  wake_at: ['timestamptz', ({ turn }) => turn.wakeAt],
  attempt: ['integer', ({ turn }) => turn.attempt],
  settled_attempt: ['integer', ({ turn }) => turn.lastProgressAttempt],
  failures: ['integer', ({ turn }) => turn.failures],
  fallback_model: ['text', ({ turn }) => turn.fallbackModel],
  fence: ['bigint', ({ turn }) => turn.fence],
  report_seq: ['integer', ({ turn }) => turn.reportSeq],
  runner_id: ['text', ({ turn }) => turn.runnerId],
  open_message_id: ['text', ({ turn }) => turn.openMessageId],
  step_after: ['bigint', ({ turn }) => turn.stepAfter],
  calls: ['json', ({ turn }) => requestsJson(turn)],
  credential_uses: [
    'json',
    ({ turn: { credentialUses: uses } }) => (uses.length === 0 ? null : JSON.stringify(uses)),
  ],
  input_tokens: ['bigint', ({ turn }) => turn.usage.inputTokens],
  output_tokens: ['bigint', ({ turn }) => turn.usage.outputTokens],
  cached_input_tokens: ['bigint', ({ turn }) => turn.usage.cachedInputTokens],
  cache_write_tokens: ['bigint', ({ turn }) => turn.usage.cacheWriteTokens],
  reasoning_tokens: ['bigint', ({ turn }) => turn.usage.reasoningTokens],
  estimated: ['boolean', ({ turn }) => turn.usage.estimated],
  steps: ['bigint', ({ turn }) => turn.usage.steps],
  tool_calls: ['bigint', ({ turn }) => turn.usage.toolCalls],
  active_ms: ['bigint', ({ turn }) => turn.usage.activeMs],
  open_model_request: ['json', ({ turn }) => openModelRequestJson(turn.openModelRequest)],
  error: ['json', ({ turn }) => turn.errorJson],
  output: ['text', ({ turn }) => turn.outputJson],
  started_at: ['timestamptz', ({ turn }) => turn.startedAt],
  finished_at: ['timestamptz', ({ turn }) => turn.finishedAt],
} satisfies Columns<ChangedTurn>;

interface PromotedTurn {
  sessionId: string;
  position: number;
}

const PROMOTED_TURN = {
  session_id: ['text', ({ sessionId }) => sessionId],
  position: ['bigint', ({ position }) => position],
} satisfies Columns<PromotedTurn>;

interface QueuedTurnRow {
  state: SessionState;
  newTurn: NewTurn;
  row: JournalRow;
}

const QUEUED_TURN = {
  session_id: ['text', ({ state }) => state.sessionId],
  position: ['bigint', ({ row, newTurn }) => row.firstSeq + newTurn.draftIndex],
  turn_id: ['text', ({ newTurn }) => newTurn.turnId],
  owner_id: ['text', ({ state }) => state.ownerId],
  agent_id: ['text', ({ state }) => state.agentId],
  agent_version: ['integer', ({ state }) => state.agentVersion],
  priority: ['smallint', ({ newTurn }) => newTurn.priority],
  ready: ['boolean', ({ newTurn }) => newTurn.ready],
  traceparent: ['text', ({ newTurn }) => newTurn.traceparent],
  replaces_turn_id: ['text', ({ newTurn }) => newTurn.replacesTurnId],
  overrides: ['text', ({ newTurn }) => newTurn.overridesJson],
  steers_turn_id: ['text', ({ newTurn }) => newTurn.steersTurnId],
  kind: ['text', ({ newTurn }) => newTurn.kind],
  pinned_bytes: ['integer', ({ newTurn }) => newTurn.pinnedBytes],
} satisfies Columns<QueuedTurnRow>;

interface SessionOutcome {
  state: SessionState;
  outcome: Outcome;
}

const OUTCOME = {
  session_id: ['text', ({ state }) => state.sessionId],
  owner_id: ['text', ({ state }) => state.ownerId],
  agent_id: ['text', ({ state }) => state.agentId],
  outcome: ['text', ({ outcome }) => outcome],
} satisfies Columns<SessionOutcome>;

const HEADS = columnTable<SessionChange, typeof HEAD_KEY & typeof HEAD_STATE & typeof JOURNAL>(2, {
  ...HEAD_KEY,
  ...HEAD_STATE,
  ...JOURNAL,
});
const TURNS = columnTable<ChangedTurn, typeof TURN_KEY & typeof TURN_LEASE & typeof TURN_STATE>(
  HEADS.nextParameter,
  { ...TURN_KEY, ...TURN_LEASE, ...TURN_STATE },
);
const PROMOTED = columnTable<PromotedTurn, typeof PROMOTED_TURN>(TURNS.nextParameter, PROMOTED_TURN);
const QUEUED = columnTable<QueuedTurnRow, typeof QUEUED_TURN>(PROMOTED.nextParameter, QUEUED_TURN);
const OUTCOMES = columnTable<SessionOutcome, typeof OUTCOME>(QUEUED.nextParameter, OUTCOME);
const SIGNALS = columnTable<SignalRow, typeof SIGNAL & typeof SIGNAL_ORDER>(OUTCOMES.nextParameter, {
  ...SIGNAL,
  ...SIGNAL_ORDER,
});

/** The parts of `sessions.apply` that differ when a change of the group has signals. */
interface SignalParts {
  /** Assignments and columns of the tables. */
  head: string;
  turn: string;
  queuedColumn: string;
  queuedValue: string;
  /** Writes the rows. */
  insert: string;
}

const WITHOUT_SIGNALS: SignalParts = { head: '', turn: '', queuedColumn: '', queuedValue: '', insert: '' };

const WITH_SIGNALS: SignalParts = {
  // Each change of a session with signals that queues or ends a turn has one.
  head: `, has_signals = h.has_signals or h.session_id in (${SIGNALS.select(['session_id'])})`,
  turn: `, stop_reason = coalesce((
       select e.stop_reason from (${SIGNALS.select(['session_id', 'turn_id', 'kind', 'stop_reason'])}) e
       where e.kind = 'turn_ended' and e.session_id = t.session_id and e.turn_id = t.turn_id
     ), t.stop_reason)`,
  queuedColumn: ', has_signals',
  queuedValue: `, session_id in (${SIGNALS.select(['session_id'])})`,
  insert: `,
   signalled as (
     insert into signals (${columnList(SIGNAL)}, created_at)
     select ${columnList(SIGNAL)}, $1
     from (${SIGNALS.select([...columnNames(SIGNAL), ...columnNames(SIGNAL_ORDER)])}) i join locked using (session_id)
     order by ordinal
   )`,
};

/**
 * Applies a change only if the session's `last_seq` is unchanged since its state was read, and only if its head is
 * not locked by another transaction: a locked head must not delay the changes of other sessions. A transaction that
 * has locked the heads itself skips none of them. Heads are locked in id order.
 */
function applyStatement(name: string, signals: SignalParts): Statement {
  return statement(
    name,
    `with
   locked as (
     select h.session_id
     from heads h join (${HEADS.select(columnNames(HEAD_KEY))}) i
       on h.session_id = i.session_id and h.last_seq = i.expected_seq
     order by h.session_id for update of h skip locked
   ),
   head as (
     update heads h set ${assignments(HEAD_STATE)}, updated_at = $1${signals.head}
     from (${HEADS.select(['session_id', ...columnNames(HEAD_STATE)])}) i
     join locked using (session_id)
     where h.session_id = i.session_id
   ),
   appended as (
     insert into journal (session_id, first_seq, last_seq, types, bytes, events)
     select session_id, expected_seq + 1, last_seq, string_to_array(types, '|'), bytes, events
     from (${HEADS.select([...columnNames(HEAD_KEY), 'last_seq', ...columnNames(JOURNAL)])}) i
     join locked using (session_id)
     where last_seq > expected_seq
   ),
   changed as (
     update turns t set ${assignments(TURN_STATE)},
       -- A lease may have been renewed since the turn was read.
       lease_until = case when i.lease_until is null then null else greatest(t.lease_until, i.lease_until) end${signals.turn}
     from (${TURNS.select([...columnNames(TURN_KEY), ...columnNames(TURN_LEASE), ...columnNames(TURN_STATE)])}) i
     join locked using (session_id)
     where t.session_id = i.session_id and t.position = i.position
   ),
   promoted as (
     update turns t set ready = true
     from (${PROMOTED.select(columnNames(PROMOTED_TURN))}) i
     join locked using (session_id)
     where t.session_id = i.session_id and t.position = i.position and t.wake_at is null
   ),
   queued as (
     insert into turns (${columnList(QUEUED_TURN)}, status, created_at${signals.queuedColumn})
     select ${columnList(QUEUED_TURN)}, 'queued', $1${signals.queuedValue}
     from (${QUEUED.select(columnNames(QUEUED_TURN))}) i
     join locked using (session_id)
   ),
   ended as (
     insert into session_outcomes (${columnList(OUTCOME)})
     select ${columnList(OUTCOME)} from (${OUTCOMES.select(columnNames(OUTCOME))}) i join locked using (session_id)
     on conflict (session_id) do update set outcome = excluded.outcome
   )${signals.insert}
   select session_id from locked`,
  );
}

const APPLY = applyStatement('sessions.apply', WITHOUT_SIGNALS);
/** A statement of its own, so that changes without signals cost as much as before. */
const APPLY_SIGNALLED = applyStatement('sessions.apply_signalled', WITH_SIGNALS);

/**
 * Writes changes of different sessions in one statement. Returns the ids of the sessions whose change was applied;
 * nothing is written of the others, which have changed since they were read or are locked by another transaction.
 */
export async function apply(
  session: Pick<DatabaseSession, 'rows'>,
  changes: readonly SessionChange[],
  now: Date,
): Promise<Set<string>> {
  const signals = changes.flatMap((change) => change.signals);
  const signalled = signals.length > 0;
  const applied = await session.rows<{ session_id: string }>(signalled ? APPLY_SIGNALLED : APPLY, [
    now,
    ...HEADS.values(changes),
    ...TURNS.values(changes.flatMap(changedTurns)),
    ...PROMOTED.values(changes.flatMap(promotedTurns)),
    ...QUEUED.values(changes.flatMap(queuedTurns)),
    ...OUTCOMES.values(changes.flatMap(newOutcomes)),
    ...(signalled ? SIGNALS.values(signalRows(signals)) : []),
  ]);
  return new Set(applied.map((row) => row.session_id));
}

function changedTurns({ state: { sessionId }, change: { turns } }: SessionChange): ChangedTurn[] {
  return turns.map((turn) => ({ sessionId, turn }));
}

function promotedTurns({ state: { sessionId }, change: { promote } }: SessionChange): PromotedTurn[] {
  return promote === undefined ? [] : [{ sessionId, position: promote }];
}

function queuedTurns({ state, change: { newTurn }, row }: SessionChange): QueuedTurnRow[] {
  return newTurn && row ? [{ state, newTurn, row }] : [];
}

/** The outcome, if it is another one than before. A session that ends in the same way again writes no row. */
function newOutcomes({ state, change: { head } }: SessionChange): SessionOutcome[] {
  const outcome = outcomeOf(head.stopReason);
  return outcome === undefined || outcome === outcomeOf(state.stopReason) ? [] : [{ state, outcome }];
}
