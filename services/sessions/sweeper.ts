import type { Clock } from '../../lib/clock.ts';
import type { Client } from '../../lib/grpc/contract.ts';
import { isId } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { startRounds } from '../../lib/rounds.ts';
import type { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import { unchanged } from './domain/change.ts';
import { expire } from './domain/decide.ts';
import { type RunLimits, reclaim } from './domain/finish.ts';
import { settle } from './settle.ts';
import type { Approvals } from './store/approvals.ts';
import type { Changes } from './store/changes.ts';
import type { Claims, HeldLease } from './store/claims.ts';
import type { Sandboxes } from './store/sandboxes.ts';
import type { Eraser } from './store/writes.ts';

const TICK_MS = 250;
/** Erasing is in no hurry. */
const ERASE_EVERY = 240;
/** Nothing should ever be found stuck. */
const UNSTICK_EVERY = 20;
const BATCH = 200;
/** Runners speak of their sandboxes every few seconds. */
const SILENCE_MS = 60_000;
/** How long administrators see sandboxes that have ended. */
const SANDBOX_HISTORY_MS = 7 * 24 * 3_600_000;

export interface SweeperContext {
  eraser: Eraser;
  approvals: Approvals;
  changes: Changes;
  claims: Claims;
  clock: Clock;
  log: Log;
  sandboxes: Sandboxes;
  files: Client<FilesServiceDefinition>;
  limits: RunLimits;
  purgeAfterMs: number;
}

/**
 * Sees to it that nothing is stuck: leases nobody renews go back to the queue, sleeping turns wake up, questions
 * that nobody answers are settled, and what was deleted is erased. Every replica sweeps; the locks of the rows keep them apart.
 */
export function startSweeper(context: SweeperContext) {
  const { eraser, approvals, changes, claims, sandboxes, files, clock, log, limits, purgeAfterMs } = context;
  let ticks = 0;
  const rounds = startRounds({
    clock,
    everyMs: TICK_MS,
    work: sweep,
    onFailure: (error) => log.warn({ err: error }, 'a sweep failed and is repeated until it succeeds'),
  });

  async function sweep(): Promise<void> {
    await claims.wake(BATCH);
    await Promise.all((await claims.expired(BATCH)).map(takeBack));
    await Promise.all((await approvals.expired(clock.now(), BATCH)).map(giveUp));
    if (ticks % UNSTICK_EVERY === 0) await Promise.all([unstick(), lose()]);
    if (ticks++ % ERASE_EVERY !== 0) return;
    await sandboxes.forget(before(SANDBOX_HISTORY_MS));
    await erase();
  }

  function before(ms: number): Date {
    return new Date(clock.now().getTime() - ms);
  }

  /** The workspaces of sessions go first: what they are is known by the sessions alone. */
  async function erase(): Promise<void> {
    const gone = await eraser.purgeable(before(purgeAfterMs));
    const erased: string[] = [];
    let failure: unknown;
    for (const { sessionId, agentId } of gone) {
      try {
        // An assistant keeps its workspace.
        if (!isId('ast', agentId))
          await files.deleteWorkspace({ place: { of: { $case: 'sessionId', value: sessionId } } });
        erased.push(sessionId);
      } catch (error) {
        // The others do not wait for it.
        failure = error;
      }
    }
    if (erased.length > 0) await eraser.purge(erased, clock.now());
    if (failure) throw failure;
  }

  /** Sandboxes of runners that say nothing any more are lost. */
  async function lose(): Promise<void> {
    const silent = await sandboxes.silent(before(SILENCE_MS), BATCH);
    if (silent.length === 0) return;
    await sandboxes.lose(silent, 'its runner is silent', clock.now());
    await settle(silent, { sandboxes, changes });
  }

  async function takeBack({ sessionId, turnId, fence }: HeldLease): Promise<void> {
    await changes.change(sessionId, 1_000, (state) => {
      const turn = state?.current;
      const now = clock.now();
      // It may have ended, or been renewed, while this stood in line.
      const expired =
        turn?.turnId === turnId && turn.fence === fence && turn.leaseUntil !== null && turn.leaseUntil < now;
      if (!state) throw new Error('a lease without a session');
      return { change: turn && expired ? reclaim(state, turn, 'lease_lost', limits, now) : unchanged(state) };
    });
    log.info({ session_id: sessionId, turn_id: turnId }, 'a lease has run out');
  }

  async function giveUp({ sessionId, approvalId }: { sessionId: string; approvalId: string }): Promise<void> {
    await changes.change(sessionId, 1_000, (state) => {
      if (!state) throw new Error('an approval without a session');
      return { change: expire(state, approvalId) };
    });
  }

  async function unstick(): Promise<void> {
    const freed = await claims.unstick(BATCH);
    if (freed > 0) log.error({ turns: freed }, 'turns stood in the queue without anything before them');
  }

  return rounds;
}
