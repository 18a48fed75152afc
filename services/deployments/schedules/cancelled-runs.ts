import type { Clock } from '../../../lib/clock.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import { withPrefix } from '../../../lib/ids.ts';
import { startTrace } from '../../../lib/trace.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { CancelledRunStore } from '../store/cancelled-runs.ts';
import type { RunQueue } from '../store/run-queue.ts';
import type { RunInterrupter } from './run-interrupter.ts';

/** Turn ids in one request (LookUpTurnsRequest). */
const BATCH = 500;

interface CancelledRunsContext {
  store: CancelledRunStore;
  queue: Pick<RunQueue, 'started'>;
  sessions: Pick<Client<SessionsServiceDefinition>, 'lookUpTurns'>;
  interrupter: RunInterrupter;
  clock: Clock;
}

/**
 * Returns a task that finds turns of cancelled runs: the process that started the run was killed before it had stored the
 * start. Stores the turn with the run, which stays cancelled, and interrupts the turn.
 */
export function createCancelledRunCheck(context: CancelledRunsContext) {
  const { store, queue, sessions, interrupter, clock } = context;

  return async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const now = clock.now();
      const runs = await store.toCheck(now, BATCH);
      if (runs.length === 0) return;
      const trace = startTrace();
      const turnIds = runs.map(({ runId }) => withPrefix('trn', runId));
      const { turns } = await sessions.lookUpTurns({ turnIds }, { trace });
      const found = new Map(turns.map((turn) => [withPrefix('run', turn.turnId), turn]));
      for (const { runId, deploymentId, ownerId } of runs) {
        const turn = found.get(runId);
        if (!turn) continue;
        const { sessionId, turnId } = turn;
        await queue.started({ runId, sessionId, turnId, startedAt: turn.startedAt ?? now }, { trace });
        if (!turn.finishedAt)
          await interrupter.interruptAsOwner({ deploymentId, sessionId, turnId }, ownerId, { trace });
      }
      await store.checked(runs.map(({ runId }) => runId));
      if (runs.length < BATCH) return;
    }
  };
}
