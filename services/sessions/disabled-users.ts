import type { Clock } from '../../lib/clock.ts';
import type { Client } from '../../lib/grpc/contract.ts';
import type { Log } from '../../lib/log.ts';
import { startPeriodicTask } from '../../lib/periodic-task.ts';
import type { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import { SYSTEM_ACTOR } from './domain/create.ts';
import { interrupt } from './domain/interrupt.ts';
import type { Changes } from './store/changes.ts';
import type { DecideWithContext } from './store/decisions.ts';
import type { OwnerQueries } from './store/owners.ts';

interface DisabledUsersContext {
  auth: Pick<Client<AuthServiceDefinition>, 'listDisabledUsers'>;
  owners: OwnerQueries;
  changes: Changes;
  clock: Clock;
  log: Log;
}

/** The turns of a disabled user end within five seconds. */
const EVERY_MS = 2_000;
const USERS_PER_REQUEST = 1_000;
const SESSIONS_PER_BATCH = 200;
/** About how many bytes an interrupt writes. */
const SMALL_CHANGE_BYTES = 1_000;

/**
 * Interrupts turns of disabled users, in progress or queued, so that queued ones never start. Every replica runs this;
 * a turn ends once.
 */
export function monitorDisabledUsers({ auth, owners, changes, clock, log }: DisabledUsersContext) {
  const end: DecideWithContext = (state, context) => {
    if (!state) throw new Error('an unfinished turn without a session');
    // The queue is held until its last turn has ended. Otherwise a runner could claim the next turn in between.
    const input = { actor: SYSTEM_ACTOR, queue: 'hold', endsHeldTurns: true, now: clock.now() } as const;
    return { change: interrupt(state, context.interrupt, input) };
  };

  async function interruptDisabled(signal: AbortSignal): Promise<void> {
    for (let after = ''; !signal.aborted; ) {
      const userIds = await owners.withUnfinishedTurns(after, USERS_PER_REQUEST);
      if (userIds.length === 0) return;
      const disabled = (await auth.listDisabledUsers({ userIds }, { signal })).userIds;
      if (disabled.length > 0) await endAll(disabled, signal);
      after = userIds.at(-1) ?? '';
    }
  }

  /** Ends one turn of each session at a time, until none is left. */
  async function endAll(ownerIds: readonly string[], signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const sessions = await owners.unfinishedSessions(ownerIds, SESSIONS_PER_BATCH);
      if (sessions.length === 0) return;
      const changed = await Promise.all(
        sessions.map((sessionId) =>
          changes.changeWithContext(sessionId, SMALL_CHANGE_BYTES, { interrupt: true }, end),
        ),
      );
      const ended = changed.filter(({ change }) => change.turns.length > 0).length;
      // The states of these sessions do not name the turns that are left. The next run tries again.
      if (ended === 0) return;
      log.info({ turns: ended }, 'turns of disabled users were interrupted');
    }
  }

  return startPeriodicTask({
    clock,
    everyMs: EVERY_MS,
    work: interruptDisabled,
    onFailure: (error) => log.warn({ err: error }, 'disabled users could not be read; trying again'),
  });
}
