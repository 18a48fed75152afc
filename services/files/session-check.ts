import type { Clock } from '../../lib/clock.ts';
import type { Client } from '../../lib/grpc/contract.ts';
import { withPrefix } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { startPeriodicTask } from '../../lib/periodic-task.ts';
import type { SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { WorkspaceForks } from './store/forks.ts';
import type { Parts } from './store/parts.ts';
import type { UnconfirmedSessions } from './store/unconfirmed-sessions.ts';

export interface SessionCheckContext {
  unconfirmed: UnconfirmedSessions;
  forks: WorkspaceForks;
  parts: Pick<Parts, 'unconfirmed' | 'confirm'>;
  sessions: Pick<Client<SessionsServiceDefinition>, 'appendFileEvents' | 'listReferencedParts'>;
  clock: Clock;
  log: Log;
  graceMs: number;
}

const CHECK_MS = 60_000;

/**
 * Asks whether sessions exist for which parts, files or forks were stored before the session, and whether messages refer to
 * the parts. Deletes what belongs to a session that was not created, for example because the service sessions crashed, and
 * parts of messages that were refused.
 */
export function startSessionCheck(context: SessionCheckContext) {
  const { unconfirmed, forks, parts, sessions, clock, log, graceMs } = context;
  return startPeriodicTask({
    clock,
    everyMs: CHECK_MS,
    work,
    onFailure: (error) => log.warn({ err: error }, 'sessions could not be checked and will be again'),
  });

  async function work(signal: AbortSignal): Promise<void> {
    let failure: unknown;
    for (const sessionId of await unconfirmed.due(clock.now())) {
      if (signal.aborted) return;
      await check(sessionId, signal).catch((error: unknown) => {
        failure ??= error;
      });
    }
    if (failure !== undefined) throw failure;
  }

  async function check(sessionId: string, signal: AbortSignal): Promise<void> {
    const { gone } = await sessions.appendFileEvents({ sessionId, events: [] }, { signal });
    if (gone) await forks.delete({ workspaceId: withPrefix('wsp', sessionId), sessionId }, clock.now());
    else await checkParts(sessionId, signal);
    await unconfirmed.confirm(sessionId, graceMs);
  }

  /** A bounded number of parts. The session stays due while more are left. */
  async function checkParts(sessionId: string, signal: AbortSignal): Promise<void> {
    const now = clock.now();
    const storedBy = new Date(now.getTime() - graceMs);
    const stored = await parts.unconfirmed(sessionId, storedBy);
    if (stored.length === 0) return;
    const { sha256: used } = await sessions.listReferencedParts({ sessionId, sha256: stored }, { signal });
    const unused = stored.filter((sha256) => !used.includes(sha256));
    await parts.confirm(sessionId, { used, unused, storedBy, now });
  }
}
