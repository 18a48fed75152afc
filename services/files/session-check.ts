import type { Clock } from '../../lib/clock.ts';
import type { Client } from '../../lib/grpc/contract.ts';
import { withPrefix } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { startPeriodicTask } from '../../lib/periodic-task.ts';
import type { SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { WorkspaceForks } from './store/forks.ts';
import type { UnconfirmedSessions } from './store/unconfirmed-sessions.ts';

interface SessionCheckContext {
  unconfirmed: UnconfirmedSessions;
  forks: WorkspaceForks;
  sessions: Pick<Client<SessionsServiceDefinition>, 'appendFileEvents'>;
  clock: Clock;
  log: Log;
}

const CHECK_MS = 60_000;

/**
 * Asks whether sessions exist for which parts, files or forks were stored before the session. Deletes what belongs to a
 * session that was not created, for example because the service sessions crashed.
 */
export function startSessionCheck({ unconfirmed, forks, sessions, clock, log }: SessionCheckContext) {
  return startPeriodicTask({
    clock,
    everyMs: CHECK_MS,
    work,
    onFailure: (error) => log.warn({ err: error }, 'new sessions could not be checked and will be again'),
  });

  async function work(signal: AbortSignal): Promise<void> {
    for (const sessionId of await unconfirmed.due(clock.now())) {
      if (signal.aborted) return;
      const { gone } = await sessions.appendFileEvents({ sessionId, events: [] }, { signal });
      const now = clock.now();
      if (gone) await forks.delete({ workspaceId: withPrefix('wsp', sessionId), sessionId }, now);
      await unconfirmed.confirm(sessionId, now);
    }
  }
}
