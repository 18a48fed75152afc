import type { Clock } from '../../../lib/clock.ts';
import {
  type Database,
  type Session,
  type Statement,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import { createGroup } from '../../../lib/db/group.ts';
import { type IdempotencyKey, type OnceAnswer, once } from '../../../lib/db/idempotency.ts';
import { Refusal } from '../../../lib/errors.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Change } from '../domain/change.ts';
import { NOTHING_SEEN, type Stoppable } from '../domain/interrupt.ts';
import type { QueuedTurn, SessionState } from '../domain/state.ts';
import { apply, type Decided } from './apply.ts';
import { writeApprovals } from './approvals.ts';
import type { Hints } from './hints.ts';
import { compose } from './journal.ts';
import type { Known } from './known.ts';
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

/** The same for a session that is removed, with the turns that wait. */
export type DecideRemoval = (state: SessionState | undefined, queued: QueuedTurn[]) => Decision;

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
}

/**
 * The one way in which a session that exists changes: by a decision of the domain, together with the events that
 * say so. It is decided under the lock of the session's head; or on what is known, and then written only where
 * the head has not moved. Changes of different sessions that arrive together share a commit.
 */
export function createChanges({ db, hints, clock, ids, known }: ChangesContext) {
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
    const updates: SessionUpdate[] = [];
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
        if (update) updates.push(update);
        return place(state, change, now);
      } catch (error) {
        if (error instanceof Refusal) return error;
        throw error;
      }
    });
    const decided = outcomes.filter((outcome): outcome is Decided => !(outcome instanceof Refusal));
    for (const { statement: text, values } of updates) await tx.change(text, values);
    const effective = decided.filter(hasEffect);
    if (effective.length > 0) await apply(tx, effective, now);
    for (const { state, change } of decided.filter(hasApprovals)) {
      await writeApprovals(tx, state, change.requested ?? [], change.settled ?? [], now);
    }
    return outcomes;
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
    if (ready) hints.ready();
  }

  /** The same for a change that is not the turn's own: its runner may have lost it. */
  function committedByOthers(decided: Decided): void {
    committed(decided);
    const { current } = decided.state;
    if (current?.status === 'in_progress' && decided.change.head.currentTurnId === null) {
      hints.stopped(current.turnId);
    }
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

    /** Deleting reads the queue first, so it does not share a transaction. */
    async remove(sessionId: string, decide: DecideRemoval, options?: WriteOptions): Promise<void> {
      const changed = await db.transaction(async (tx) => {
        const states = await lockStates(tx, [sessionId]);
        const state = states.get(sessionId);
        const queued = await tx.rows<{ turn_id: string; position: number }>(QUEUED, [
          sessionId,
          state?.ownerId,
        ]);
        const { change, update } = decide(
          state,
          queued.map((row) => ({ turnId: row.turn_id, position: row.position })),
        );
        if (!state || !update) throw new Error('a removal without a session');
        const now = clock.now();
        const decided = place(state, change, now);
        await tx.change(update.statement, update.values);
        await apply(tx, [decided], now);
        await writeApprovals(tx, state, [], change.settled ?? [], now);
        await tx.change(CANCEL, [sessionId, now, state.ownerId]);
        return decided;
      }, options);
      committedByOthers(changed);
    },
  };
}

const QUEUED = statement(
  'sessions.queued_turns',
  `select turn_id, position from turns
   where owner_id = $2 and session_id = $1 and finished_at is null and status = 'queued' order by position`,
);

const CANCEL = statement(
  'sessions.cancel_turns',
  `update turns set status = 'cancelled', ready = false, wake_at = null, finished_at = $2
   where owner_id = $3 and session_id = $1 and finished_at is null and status = 'queued'`,
);
