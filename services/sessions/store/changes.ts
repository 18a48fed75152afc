import type { Clock } from '../../../lib/clock.ts';
import type { Database, Session, Statement, WriteOptions } from '../../../lib/db/database.ts';
import { createGroup } from '../../../lib/db/group.ts';
import { type IdempotencyKey, type OnceAnswer, once } from '../../../lib/db/idempotency.ts';
import { Refusal } from '../../../lib/errors.ts';
import { type Ids, isId } from '../../../lib/ids.ts';
import type { Change } from '../domain/change.ts';
import { NOTHING_SEEN, type Stoppable } from '../domain/interrupt.ts';
import type { SessionState } from '../domain/state.ts';
import { apply, type Decided } from './apply.ts';
import { writeApprovals } from './approvals.ts';
import type { Hints } from './hints.ts';
import { compose } from './journal.ts';
import type { Known } from './known.ts';
import type { TurnQuota } from './quota.ts';
import { lockStates } from './state.ts';
import { lookUp } from './stoppable.ts';

/** What a decision may also change: the seldom written columns of the session, in the same transaction. */
export interface SessionUpdate {
  statement: Statement;
  values: readonly unknown[];
}

export interface Decision {
  change: Change;
  update?: SessionUpdate;
}

/** Looks at a locked session and says what becomes of it, or refuses. It runs again when a transaction is repeated. */
export type Decide = (state: SessionState | undefined) => Decision;

/** The same for one that may stop the session's turn, with what that needs to know. */
export type DecideStop = (state: SessionState | undefined, seen: Stoppable) => Decision;

/** The same with more reads and writes in the transaction; undefined leaves the session as it is. */
export type DecideAlone = (state: SessionState | undefined, tx: Session) => Promise<Change | undefined>;

interface Item {
  sessionId: string;
  decide: DecideStop;
  bytes: number;
  /** The turn may be stopped: what that takes is looked up first. */
  stops?: boolean;
}

export type Changes = ReturnType<typeof createChanges>;

export interface ChangesContext {
  db: Database;
  hints: Hints;
  clock: Clock;
  ids: Ids;
  known: Known;
  /** Undefined: as many turns as they like. */
  quota: TurnQuota | undefined;
}

/**
 * The one way in which a session that exists changes: by a decision of the domain, together with the events that
 * say so. It is decided under the lock of the session's head; or on what is known, and then written only where
 * the head has not moved. Changes of different sessions that arrive together share a commit.
 */
export function createChanges({ db, hints, clock, ids, known, quota }: ChangesContext) {
  const shared = {
    watch: db.watch,
    sizeOf: (item: Item) => item.bytes,
    keyOf: (item: Item) => item.sessionId,
    maxItems: 128,
    maxBytes: 8 * 1024 * 1024,
  };
  const group = createGroup<Item, Decided>({
    ...shared,
    name: 'sessions.changes',
    run: (items, options) => db.transaction((tx) => changeAll(tx, items), options),
  });
  const quickly = createGroup<Item, Decided | undefined>({
    ...shared,
    name: 'sessions.reports',
    run: (items, options) => changeKnown(db.within(options), items),
  });

  /** Decides on what is known, without reading. Undefined for those for which that does not hold. */
  async function changeKnown(session: Session, items: Item[]): Promise<(Decided | undefined)[]> {
    const now = clock.now();
    const outcomes = items.map(({ sessionId, decide }) => {
      const state = known.get(sessionId);
      return state && decideOnKnown(state, decide, now);
    });
    const decided = outcomes.filter((outcome) => outcome !== undefined);
    const written = decided.length === 0 ? undefined : await apply(session, decided, now);
    return items.map(({ sessionId }, index) => {
      if (written?.has(sessionId)) return outcomes[index];
      known.forget(sessionId);
      return undefined;
    });
  }

  function decideOnKnown(state: SessionState, decide: DecideStop, now: Date): Decided | undefined {
    try {
      const decided = place(state, decide(state, NOTHING_SEEN).change, now);
      // Approvals are rows of their own: they take a transaction.
      return hasEffect(decided) && !hasApprovals(decided) ? decided : undefined;
    } catch (error) {
      // Refused on what may be out of date: it is looked at again.
      if (error instanceof Refusal) return undefined;
      throw error;
    }
  }

  async function changeAll(tx: Session, items: Item[]): Promise<(Decided | Refusal)[]> {
    const states = await lockStates(
      tx,
      items.map((item) => item.sessionId),
    );
    const now = clock.now();
    const updates = new Map<Decided, SessionUpdate>();
    const seen = new Map<string, Stoppable>();
    for (const { sessionId, stops } of items) {
      const state = states.get(sessionId);
      if (state && stops) seen.set(sessionId, await lookUp(tx, state));
    }
    const outcomes = items.map(({ sessionId, decide }): Decided | Refusal => {
      try {
        const state = states.get(sessionId);
        const { change, update } = decide(state, seen.get(sessionId) ?? NOTHING_SEEN);
        if (!state) throw new Error(`a decision about session ${sessionId}, which does not exist`);
        const decided = place(state, change, now);
        if (update) updates.set(decided, update);
        return decided;
      } catch (error) {
        if (error instanceof Refusal) return error;
        throw error;
      }
    });
    if (quota) await charge(quota, tx, outcomes, now);
    const decided = outcomes.filter((outcome): outcome is Decided => !(outcome instanceof Refusal));
    for (const one of decided) {
      const update = updates.get(one);
      if (update) await tx.change(update.statement, update.values);
    }
    const effective = decided.filter(hasEffect);
    if (effective.length > 0) await apply(tx, effective, now);
    for (const { state, change } of decided.filter(hasApprovals)) {
      await writeApprovals(tx, state, change.requested ?? [], change.settled ?? [], now);
    }
    return outcomes;
  }

  /** Whoever has no turn left for today queues none: nothing of what they have decided is written. */
  async function charge(
    quota: TurnQuota,
    tx: Session,
    outcomes: (Decided | Refusal)[],
    now: Date,
  ): Promise<void> {
    const queuing = [...outcomes.entries()].flatMap(([index, outcome]) =>
      outcome instanceof Refusal || !outcome.change.newTurn
        ? []
        : [{ index, ownerId: outcome.state.ownerId }],
    );
    if (queuing.length === 0) return;
    const owners = queuing.map(({ ownerId }) => ownerId);
    for (const [place, refusal] of (await quota.take(tx, owners, now)).entries()) {
      const index = queuing[place]?.index;
      if (refusal && index !== undefined) outcomes[index] = refusal;
    }
  }

  function hasEffect({ entry, change }: Decided): boolean {
    return entry !== undefined || change.turns.length > 0;
  }

  function hasApprovals({ change: { requested = [], settled = [] } }: Decided): boolean {
    return requested.length > 0 || settled.length > 0;
  }

  function place(state: SessionState, change: Change, now: Date): Decided {
    const entry =
      change.drafts.length === 0
        ? undefined
        : compose(state.sessionId, state.lastSeq, change.drafts, ids, now);
    return { state, change, entry };
  }

  /** Tells who waits, after the commit. */
  function committed(decided: Decided): void {
    known.note(decided);
    const { state, change, entry } = decided;
    if (entry) hints.appended(state.sessionId);
    const ready =
      change.newTurn?.ready || change.promote !== undefined || change.turns.some((turn) => turn.ready);
    if (ready || freesAssistant(decided)) hints.ready();
  }

  /** The same for a change that is not the turn's own: its runner may have lost it. */
  function committedByOthers(decided: Decided): void {
    committed(decided);
    const { current } = decided.state;
    if (current?.status === 'in_progress' && decided.change.head.currentTurnId === null) {
      hints.stopped(current.turnId);
    }
  }

  /** The other sessions of an assistant wait for the one that works. */
  function freesAssistant({ state: { agentId, current }, change }: Decided): boolean {
    if (current?.status !== 'in_progress' || !isId('ast', agentId)) return false;
    return (
      change.head.currentTurnId === null ||
      change.turns.some((turn) => turn.turnId === current.turnId && turn.status !== 'in_progress')
    );
  }

  return {
    /** `bytes`: about how much the decision will write. */
    async change(sessionId: string, bytes: number, decide: Decide, options?: WriteOptions): Promise<Decided> {
      const changed = await group.submit({ sessionId, decide, bytes }, options);
      committedByOthers(changed);
      return changed;
    },

    /** The same for a change that may stop the session's turn. */
    async stop(
      sessionId: string,
      bytes: number,
      decide: DecideStop,
      options?: WriteOptions,
    ): Promise<Decided> {
      const changed = await group.submit({ sessionId, decide, bytes, stops: true }, options);
      committedByOthers(changed);
      return changed;
    },

    /** The same for a turn under way: what this process knows of its session is good enough to begin with. */
    async progress(sessionId: string, bytes: number, decide: Decide, options?: WriteOptions): Promise<void> {
      const item = { sessionId, decide, bytes };
      committed((await quickly.submit(item, options)) ?? (await group.submit(item, options)));
    },

    /** The same at most once per key; `answer` makes what a later request with the key gets. */
    async changeOnce(
      sessionId: string,
      key: IdempotencyKey,
      decide: DecideStop,
      answer: (changed: Decided) => Uint8Array,
      options?: WriteOptions,
    ): Promise<OnceAnswer> {
      let changed: Decided | undefined;
      const make = async (tx: Session) => {
        const [made] = await changeAll(tx, [{ sessionId, decide, bytes: 0, stops: true }]);
        if (!made || made instanceof Refusal) throw made;
        changed = made;
        return answer(made);
      };
      const outcome = await once(db, key, make, options);
      if (changed && !outcome.replayed) committedByOthers(changed);
      return outcome;
    },

    /** The same for a decision that has to see or write more under the lock: it does not share a transaction. */
    async alone(sessionId: string, decide: DecideAlone, options?: WriteOptions): Promise<void> {
      const decided = await db.transaction(async (tx) => {
        const state = (await lockStates(tx, [sessionId])).get(sessionId);
        const change = await decide(state, tx);
        if (!state || !change) return undefined;
        const now = clock.now();
        const one = place(state, change, now);
        if (hasEffect(one)) await apply(tx, [one], now);
        if (hasApprovals(one))
          await writeApprovals(tx, state, change.requested ?? [], change.settled ?? [], now);
        return one;
      }, options);
      if (decided) committedByOthers(decided);
    },
  };
}
