import type { Clock } from '../../lib/clock.ts';
import type { Client } from '../../lib/grpc/contract.ts';
import type { Log } from '../../lib/log.ts';
import { startPeriodicTask } from '../../lib/periodic-task.ts';
import type { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import { expireCall } from './domain/answer.ts';
import { unchanged } from './domain/change.ts';
import { expire } from './domain/decide.ts';
import { type RunLimits, reclaim } from './domain/finish.ts';
import { updateEnvironmentStatuses } from './environment-status.ts';
import type { SessionCounters } from './metrics.ts';
import type { Approvals } from './store/approvals.ts';
import type { Changes } from './store/changes.ts';
import type { ChatStore } from './store/chats.ts';
import type { ClientCalls } from './store/client-calls.ts';
import type { LeaseStore, TurnLease } from './store/leases.ts';
import type { SandboxStore } from './store/sandboxes.ts';
import type { Eraser } from './store/session-updates.ts';
import type { SignalStore } from './store/signals.ts';
import type { TurnQueue } from './store/turn-queue.ts';

const SWEEP_MS = 250;
/** There is no turn to repair unless there is a bug, and runners report their sandboxes every few seconds. */
const REPAIR_MS = 5_000;
/** Erasing deleted sessions is not urgent. */
const ERASE_MS = 60_000;
const BATCH = 200;
/** A sandbox is lost when its runner has not reported it for this long. Runners report every few seconds. */
const UNSEEN_MS = 60_000;
/** How long ended sandboxes stay in the list of administrators. */
const SANDBOX_HISTORY_MS = 7 * 24 * 3_600_000;
/** How long a signal waits for the service that it is for. */
const SIGNAL_LIFE_MS = 7 * 24 * 3_600_000;
const SIGNAL_BATCH = 10_000;
/** How long a chat is recognised by its messages, and a response is found by its id. */
const CHAT_LIFE_MS = 30 * 24 * 3_600_000;
const CHAT_BATCH = 10_000;

interface SweeperContext {
  eraser: Eraser;
  approvals: Approvals;
  clientCalls: ClientCalls;
  changes: Changes;
  turnQueue: TurnQueue;
  leases: LeaseStore;
  clock: Clock;
  log: Log;
  sandboxes: SandboxStore;
  signals: Pick<SignalStore, 'deleteOld'>;
  chats: Pick<ChatStore, 'deleteOld'>;
  files: Client<FilesServiceDefinition>;
  counters: Pick<SessionCounters, 'leaseLost'>;
  limits: RunLimits;
  purgeAfterMs: number;
}

/**
 * Queues turns with expired leases, wakes sleeping turns, closes expired approvals and client calls, marks sandboxes of silent runners as
 * lost, and erases deleted sessions, old signals and old records of chats. Every replica runs this; row locks keep the replicas from doing the same work. The
 * three tasks are independent, so that a slow service `files` does not delay turns.
 */
export function startSweeper(context: SweeperContext) {
  const {
    eraser,
    approvals,
    clientCalls,
    changes,
    turnQueue,
    leases,
    sandboxes,
    signals,
    chats,
    files,
    counters,
    clock,
    log,
    limits,
    purgeAfterMs,
  } = context;
  const task = (everyMs: number, work: (signal: AbortSignal) => Promise<void>) =>
    startPeriodicTask({
      clock,
      everyMs,
      work,
      onFailure: (error) => log.warn({ err: error }, 'sweep failed; it is repeated at the next tick'),
    });
  const tasks = [
    task(SWEEP_MS, () =>
      runInOrder([() => turnQueue.wake(BATCH), reclaimExpiredLeases, expireApprovals, expireClientCalls]),
    ),
    task(REPAIR_MS, () => runInOrder([unstick, markUnseenLost])),
    task(ERASE_MS, (signal) =>
      runInOrder([
        deleteEndedSandboxes,
        () => deleteOldSignals(signal),
        () => deleteOldChats(signal),
        () => erase(signal),
      ]),
    ),
  ];

  function before(ms: number): Date {
    return new Date(clock.now().getTime() - ms);
  }

  /** Deletes the workspaces and the parts of messages first, because only the rows of the sessions name them. */
  async function erase(signal: AbortSignal): Promise<void> {
    const deleted = await eraser.purgeable(before(purgeAfterMs));
    const erased: string[] = [];
    let failure: unknown;
    for (const sessionId of deleted) {
      if (signal.aborted) break;
      try {
        const place = { of: { $case: 'sessionId' as const, value: sessionId } };
        // The sessions of an assistant share its workspace, which outlives them: only their parts are deleted.
        await files.deleteWorkspace({ place }, { signal });
        erased.push(sessionId);
      } catch (error) {
        // A failure must not keep the other sessions from being erased.
        failure = error;
      }
    }
    if (erased.length > 0) await eraser.purge(erased, clock.now());
    if (failure) throw failure;
  }

  /** Marks sandboxes as lost whose runner no longer reports them. */
  async function markUnseenLost(): Promise<void> {
    const unseen = await sandboxes.unseen(before(UNSEEN_MS), BATCH);
    if (unseen.length === 0) return;
    await sandboxes.markLost(unseen, 'its runner is silent', clock.now());
    await updateEnvironmentStatuses(unseen, { sandboxes, changes });
  }

  async function deleteEndedSandboxes(): Promise<void> {
    await sandboxes.deleteEnded(before(SANDBOX_HISTORY_MS));
  }

  /** A service that stays away must not let the table grow. When it returns it looks up the turns that it waits for. */
  async function deleteOldSignals(signal: AbortSignal): Promise<void> {
    let total = 0;
    for (let deleted = SIGNAL_BATCH; deleted === SIGNAL_BATCH && !signal.aborted; total += deleted)
      deleted = await signals.deleteOld(before(SIGNAL_LIFE_MS), SIGNAL_BATCH);
    if (total > 0)
      log.warn({ signals: total }, 'signals that no service acknowledged within 7 days were deleted');
  }

  async function deleteOldChats(signal: AbortSignal): Promise<void> {
    for (let deleted = CHAT_BATCH; deleted === CHAT_BATCH && !signal.aborted; )
      deleted = await chats.deleteOld(before(CHAT_LIFE_MS), CHAT_BATCH);
  }

  async function reclaimExpiredLeases(): Promise<void> {
    const expired = await leases.expired(BATCH);
    await runAll(expired.map((lease) => () => reclaimExpired(lease)));
  }

  async function expireApprovals(): Promise<void> {
    const expired = await approvals.expired(clock.now(), BATCH);
    await runAll(expired.map((approval) => () => expireApproval(approval)));
  }

  async function expireClientCalls(): Promise<void> {
    const expired = await clientCalls.expired(clock.now(), BATCH);
    await runAll(expired.map((call) => () => expireClientCall(call)));
  }

  async function reclaimExpired({ sessionId, turnId, fence }: TurnLease): Promise<void> {
    const { change } = await changes.change(sessionId, 1_000, (state) => {
      const turn = state?.current;
      const now = clock.now();
      // The turn may have ended or its lease been renewed since the expired leases were read.
      const expired =
        turn?.turnId === turnId && turn.fence === fence && turn.leaseUntil !== null && turn.leaseUntil < now;
      if (!state) throw new Error('a lease without a session');
      return { change: turn && expired ? reclaim(state, turn, 'lease_lost', limits, now) : unchanged(state) };
    });
    if (change.turns.length === 0) return;
    counters.leaseLost();
    log.info({ session_id: sessionId, turn_id: turnId }, 'lease expired; the turn is queued again');
  }

  async function expireApproval({
    sessionId,
    approvalId,
  }: {
    sessionId: string;
    approvalId: string;
  }): Promise<void> {
    await changes.change(sessionId, 1_000, (state) => {
      if (!state) throw new Error('an approval without a session');
      return { change: expire(state, approvalId, clock.now()) };
    });
  }

  async function expireClientCall({
    sessionId,
    eventId,
  }: {
    sessionId: string;
    eventId: string;
  }): Promise<void> {
    await changes.change(sessionId, 1_000, (state) => {
      if (!state) throw new Error('a client call without a session');
      return { change: expireCall(state, eventId) };
    });
  }

  async function unstick(): Promise<void> {
    const freed = await turnQueue.unstick(BATCH);
    if (freed > 0) log.error({ turns: freed }, 'queued turns that should have been ready were repaired');
  }

  return {
    async stop(): Promise<void> {
      await Promise.all(tasks.map((one) => one.stop()));
    },
  };
}

type Operation = () => Promise<unknown>;

/** Runs the operations one after the other. Rejects with the first failure when all have ended. */
async function runInOrder(operations: readonly Operation[]): Promise<void> {
  const failures: unknown[] = [];
  for (const operation of operations) await operation().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Runs the operations at the same time. Rejects with the first failure when all have ended. */
async function runAll(operations: readonly Operation[]): Promise<void> {
  const outcomes = await Promise.allSettled(operations.map((operation) => operation()));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
