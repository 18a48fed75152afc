import type { Clock } from '../../../lib/clock.ts';
import { createBatcher, type SubmitOptions } from '../../../lib/db/batcher.ts';
import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
} from '../../../lib/db/database.ts';
import {
  findAnswer,
  type IdempotencyKey,
  type IdempotentAnswer,
  runOnce,
} from '../../../lib/db/idempotency.ts';
import { Refusal } from '../../../lib/errors.ts';
import type { Ids } from '../../../lib/ids.ts';
import { Semaphore } from '../../../lib/semaphore.ts';
import type { SessionState } from '../domain/state.ts';
import { apply, type SessionChange } from './apply.ts';
import { createChangePublisher, type PublisherContext } from './change-publisher.ts';
import {
  type ChangeRequest,
  type DecideChange,
  type DecideInTransaction,
  type DecideWithContext,
  type DecisionReads,
  NO_CONTEXT,
} from './decisions.ts';
import { createLockedChanges, hasEffect, hasRequests } from './locked-changes.ts';
import type { TurnQuota } from './quota.ts';
import { SessionQueues } from './session-queues.ts';
import { type FoundTurn, findSignalledTurn, lockTurnId } from './signalled-turns.ts';
import { lockHeads, lockStates, lockUnlockedStates } from './state.ts';

export type Changes = ReturnType<typeof createChanges>;

interface ChangesContext extends PublisherContext {
  db: Database;
  clock: Clock;
  ids: Ids;
  /** Undefined when turns are not limited. */
  quota: TurnQuota | undefined;
}

/** Transactions that wait for a locked head at the same time. Each occupies a connection of the pool. */
const MAX_LOCK_WAITS = 4;

const LIMIT_LOCK_WAIT = statement(
  'sessions.limit_lock_wait',
  `select set_config('lock_timeout', '1s', true)`,
);

/**
 * Changes existing sessions. Every change is a decision of the domain together with its events. There are three paths:
 *
 * - `optimistic`: decides on the cached state, and applies the decision only if `last_seq` is unchanged.
 * - `batched`: locks the heads, reads the states, decides and writes in one transaction for up to 128 sessions.
 * - `oneByOne`: the same in a transaction of its own, which waits for the lock of the head.
 *
 * The first two skip heads that another transaction has locked, so that one locked head never delays the changes of
 * other sessions. A change that was not applied on one path takes the next.
 */
export function createChanges(context: ChangesContext) {
  const { db, clock, ids, stateCache, quota } = context;
  const shared = {
    observer: db.observer,
    sizeOf: (request: ChangeRequest) => request.bytes,
    keyOf: (request: ChangeRequest) => request.sessionId,
    // Many changes of one session, which exclude each other, do not delay those of other sessions.
    ownerOf: (request: ChangeRequest) => request.sessionId,
    maxItems: 128,
    maxBytes: 8 * 1024 * 1024,
  };
  const batched = createBatcher<ChangeRequest, SessionChange | undefined>({
    ...shared,
    name: 'sessions.changes',
    run: (requests, options) => db.transaction((tx) => changeUnlocked(tx, requests), options),
  });
  const optimistic = createBatcher<ChangeRequest, SessionChange | undefined>({
    ...shared,
    name: 'sessions.reports',
    run: (requests, options) => changeCached(db.within(options), requests),
  });
  const { changeLocked, write, composeChange } = createLockedChanges({ clock, ids, quota });
  const { publish, publishExternal } = createChangePublisher(context);
  const lockWaits = new Semaphore(MAX_LOCK_WAITS);
  /** Transactions of one session would wait for the same lock, each with a connection of the pool. */
  const ownTransactions = new SessionQueues();

  /** Waits for the lock as long as a statement may take, or for a second for a report of a runner. */
  function oneByOne(
    request: ChangeRequest,
    options: SubmitOptions | undefined,
    isReport: boolean,
  ): Promise<SessionChange> {
    return lockWaits.run(
      () =>
        db.transaction(async (tx) => {
          if (isReport) await tx.rows(LIMIT_LOCK_WAIT);
          return changeOne(tx, request);
        }, options),
      { signal: options?.signal, always: isReport },
    );
  }

  async function submit(request: ChangeRequest, options?: SubmitOptions): Promise<SessionChange> {
    return (await batched.submit(request, options)) ?? (await oneByOne(request, options, false));
  }

  /** Decides on cached states, without reading. Undefined for each change that could not be applied. */
  async function changeCached(
    session: DatabaseSession,
    requests: ChangeRequest[],
  ): Promise<(SessionChange | undefined)[]> {
    const now = clock.now();
    const decisions = requests.map(({ sessionId, decide }) => {
      const state = stateCache.get(sessionId);
      return state && decideOnCached(state, decide, now);
    });
    const changes = decisions.filter((change) => change !== undefined);
    const applied = changes.length === 0 ? undefined : await apply(session, changes, now);
    return requests.map(({ sessionId }, index) => {
      if (applied?.has(sessionId)) return decisions[index];
      stateCache.delete(sessionId);
      return undefined;
    });
  }

  function decideOnCached(
    state: SessionState,
    decide: DecideWithContext,
    now: Date,
  ): SessionChange | undefined {
    try {
      const change = composeChange(state, decide(state, NO_CONTEXT).change, now);
      // Approvals and client calls are rows of their own, which take a transaction.
      return hasEffect(change) && !hasRequests(change) ? change : undefined;
    } catch (error) {
      // The cached state may be out of date, so a refusal is decided again on the locked state.
      if (error instanceof Refusal) return undefined;
      throw error;
    }
  }

  /** Changes the sessions whose heads are not locked. Undefined for the others. */
  async function changeUnlocked(
    tx: DatabaseSession,
    requests: ChangeRequest[],
  ): Promise<(SessionChange | Refusal | undefined)[]> {
    const { states, skipped } = await lockUnlockedStates(
      tx,
      requests.map((request) => request.sessionId),
    );
    const free = requests.filter(({ sessionId }) => !skipped.has(sessionId));
    const outcomes = new Map<ChangeRequest, SessionChange | Refusal | undefined>();
    const changes = free.length === 0 ? [] : await changeLocked(tx, free, states);
    for (const [index, request] of free.entries()) outcomes.set(request, changes[index]);
    return requests.map((request) => outcomes.get(request));
  }

  async function changeOne(tx: DatabaseSession, request: ChangeRequest): Promise<SessionChange> {
    const [change] = await changeLocked(tx, [request], await lockStates(tx, [request.sessionId]));
    if (!change || change instanceof Refusal) throw change;
    return change;
  }

  return {
    /** Changes a session. `bytes` is about how much the decision will write. */
    async change(
      sessionId: string,
      bytes: number,
      decide: DecideChange,
      options?: SubmitOptions,
    ): Promise<SessionChange> {
      const changed = await submit({ sessionId, decide, bytes }, options);
      publishExternal(changed);
      return changed;
    },

    /** Changes a session with a decision that needs more than its state. */
    async changeWithContext(
      sessionId: string,
      bytes: number,
      reads: DecisionReads,
      decide: DecideWithContext,
      options?: SubmitOptions,
    ): Promise<SessionChange> {
      const changed = await submit({ sessionId, decide, bytes, reads }, options);
      publishExternal(changed);
      return changed;
    },

    /**
     * Changes a session for the runner of its turn, on the cached state if possible. It is never refused for load: the
     * turns of the runners are bounded by their slots. Refuses with
     * DEPENDENCY_UNAVAILABLE when another transaction keeps the head locked for a second.
     */
    async changeOptimistically(
      sessionId: string,
      bytes: number,
      decide: DecideChange,
      options?: SubmitOptions,
    ): Promise<void> {
      const request = { sessionId, decide, bytes };
      const changed =
        (await optimistic.submitAlways(request, options)) ??
        (await batched.submitAlways(request, options)) ??
        (await oneByOne(request, options, true));
      publish(changed);
    },

    /** The stored answer of an earlier request with the key. */
    answerTo: (key: IdempotencyKey, options?: ReadOptions) => findAnswer(db, key, options),

    /** Changes a session at most once per key. `answer` makes the answer that a later request with the key gets. */
    async changeOnce(
      sessionId: string,
      key: IdempotencyKey,
      reads: DecisionReads,
      decide: DecideWithContext,
      answer: (changed: SessionChange) => Uint8Array,
      options?: SubmitOptions,
    ): Promise<IdempotentAnswer> {
      let changed: SessionChange | undefined;
      const change = async (tx: DatabaseSession) => {
        changed = await changeOne(tx, { sessionId, decide, bytes: 0, reads });
        return answer(changed);
      };
      const outcome = await ownTransactions.run(
        sessionId,
        () => runOnce(db, key, change, options),
        options?.signal,
      );
      if (changed && !outcome.replayed) publishExternal(changed);
      return outcome;
    },

    /**
     * Queues a turn unless a session that is not deleted has it. Returns the change, or the turn that exists. The
     * decision may interrupt the turn of the session.
     */
    async queueOnce(
      sessionId: string,
      turnId: string,
      decide: DecideWithContext,
      options?: SubmitOptions,
    ): Promise<SessionChange | FoundTurn> {
      const queueUnlessFound = async (tx: DatabaseSession) => {
        await lockTurnId(tx, turnId);
        await lockHeads(tx, [sessionId]);
        const found = await findSignalledTurn(tx, turnId);
        return found ?? (await changeOne(tx, { sessionId, decide, bytes: 0, reads: { interrupt: true } }));
      };
      const queued = await ownTransactions.run(
        sessionId,
        () => db.transaction(queueUnlessFound, options),
        options?.signal,
      );
      if (!('seq' in queued)) publishExternal(queued);
      return queued;
    },

    /** Changes a session in its own transaction, for a decision that reads or writes more under the lock. */
    async inOwnTransaction(
      sessionId: string,
      decide: DecideInTransaction,
      options?: SubmitOptions,
    ): Promise<void> {
      const decideAndWrite = async (tx: DatabaseSession) => {
        const state = (await lockStates(tx, [sessionId])).get(sessionId);
        const change = await decide(state, tx);
        if (!state || !change) return undefined;
        const now = clock.now();
        const composed = composeChange(state, change, now);
        await write(tx, composed, now);
        return composed;
      };
      const changed = await ownTransactions.run(
        sessionId,
        () => db.transaction(decideAndWrite, options),
        options?.signal,
      );
      if (changed) publishExternal(changed);
    },
  };
}
