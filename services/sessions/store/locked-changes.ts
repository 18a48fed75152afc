import type { Clock } from '../../../lib/clock.ts';
import type { DatabaseSession } from '../../../lib/db/database.ts';
import { Refusal } from '../../../lib/errors.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Change } from '../domain/change.ts';
import { signalsOf } from '../domain/signals.ts';
import type { SessionState } from '../domain/state.ts';
import { apply, type SessionChange } from './apply.ts';
import { writeApprovals } from './approvals.ts';
import { writeClientCalls } from './client-calls.ts';
import {
  type ChangeRequest,
  type ColumnUpdate,
  type DecisionContext,
  type DecisionReads,
  NO_CONTEXT,
} from './decisions.ts';
import { readInterruptContext } from './interrupt-context.ts';
import { compose } from './journal.ts';
import { readPinned } from './pinned.ts';
import type { TurnQuota } from './quota.ts';

interface LockedChangesContext {
  clock: Clock;
  ids: Ids;
  /** Undefined when turns are not limited. */
  quota: TurnQuota | undefined;
}

/** Decides on sessions whose heads the transaction has locked, and writes the decisions. */
export function createLockedChanges({ clock, ids, quota }: LockedChangesContext) {
  /** Returns a change or a refusal for each request. A refusal does not affect the other requests. */
  async function changeLocked(
    tx: DatabaseSession,
    requests: ChangeRequest[],
    states: ReadonlyMap<string, SessionState>,
  ): Promise<(SessionChange | Refusal)[]> {
    const now = clock.now();
    const updates = new Map<SessionChange, ColumnUpdate>();
    const contexts = new Map<string, DecisionContext>();
    for (const { sessionId, reads } of requests) {
      const state = states.get(sessionId);
      if (state && reads) contexts.set(sessionId, await readContext(tx, state, reads));
    }
    const outcomes = requests.map(({ sessionId, decide }): SessionChange | Refusal => {
      try {
        const state = states.get(sessionId);
        const { change, update } = decide(state, contexts.get(sessionId) ?? NO_CONTEXT);
        if (!state) throw new Error(`a change of session ${sessionId}, which does not exist`);
        const composed = composeChange(state, change, now);
        if (update) updates.set(composed, update);
        return composed;
      } catch (error) {
        if (error instanceof Refusal) return error;
        throw error;
      }
    });
    if (quota) await charge(quota, tx, outcomes, now);
    const changes = outcomes.filter((outcome): outcome is SessionChange => !(outcome instanceof Refusal));
    for (const change of changes) {
      const update = updates.get(change);
      if (update) await tx.change(update.statement, update.values);
    }
    const effective = changes.filter(hasEffect);
    if (effective.length > 0) await apply(tx, effective, now);
    for (const change of changes) await writeRequests(tx, change, now);
    return outcomes;
  }

  /** Consumes the queued turns from the quotas of their owners. A change whose owner has no turn left becomes a refusal. */
  async function charge(
    turns: TurnQuota,
    tx: DatabaseSession,
    outcomes: (SessionChange | Refusal)[],
    now: Date,
  ): Promise<void> {
    const queuing = [...outcomes.entries()].flatMap(([index, outcome]) =>
      outcome instanceof Refusal || !outcome.change.newTurn
        ? []
        : [{ index, ownerId: outcome.state.ownerId }],
    );
    if (queuing.length === 0) return;
    const owners = queuing.map(({ ownerId }) => ownerId);
    for (const [position, refusal] of (await turns.consume(tx, owners, now)).entries()) {
      const index = queuing[position]?.index;
      if (refusal && index !== undefined) outcomes[index] = refusal;
    }
  }

  async function writeRequests(tx: DatabaseSession, written: SessionChange, now: Date): Promise<void> {
    if (!hasRequests(written)) return;
    const { newApprovals, closedApprovals, newClientCalls, closedClientCalls } = written.change;
    await writeApprovals(tx, written.state, newApprovals ?? [], closedApprovals ?? [], now);
    await writeClientCalls(tx, written.state, newClientCalls ?? [], closedClientCalls ?? [], now);
  }

  function composeChange(state: SessionState, change: Change, now: Date): SessionChange {
    const { drafts } = change;
    const row = drafts.length === 0 ? undefined : compose(state.sessionId, state.lastSeq, drafts, ids, now);
    return { state, change, row, signals: signalsOf(state, change, now) };
  }

  /** Writes a change that was decided in the transaction. */
  async function write(tx: DatabaseSession, written: SessionChange, now: Date): Promise<void> {
    if (hasEffect(written)) await apply(tx, [written], now);
    await writeRequests(tx, written, now);
  }

  return { changeLocked, write, composeChange };
}

async function readContext(
  tx: DatabaseSession,
  state: SessionState,
  reads: DecisionReads,
): Promise<DecisionContext> {
  const context = { ...NO_CONTEXT };
  if (reads.interrupt) context.interrupt = await readInterruptContext(tx, state);
  if (reads.pinned) context.pinned = await readPinned(tx, state.sessionId);
  return context;
}

/** Whether a change writes to the head, the journal or a turn. */
export function hasEffect({ row, change }: SessionChange): boolean {
  return row !== undefined || change.turns.length > 0;
}

/** Whether a change opens or closes approvals or client calls, which are rows of their own. */
export function hasRequests({ change }: SessionChange): boolean {
  const { newApprovals, closedApprovals, newClientCalls, closedClientCalls } = change;
  return [newApprovals, closedApprovals, newClientCalls, closedClientCalls].some((rows) => rows?.length);
}
