import type { Clock } from '../../lib/clock.ts';
import type { Client } from '../../lib/grpc/contract.ts';
import type { Log } from '../../lib/log.ts';
import { startRounds } from '../../lib/rounds.ts';
import type { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import { SYSTEM } from './domain/begin.ts';
import { interrupt } from './domain/interrupt.ts';
import type { Changes, DecideStop } from './store/changes.ts';
import type { Owners } from './store/owners.ts';

export interface DisabledContext {
  auth: Pick<Client<AuthServiceDefinition>, 'listDisabledUsers'>;
  owners: Owners;
  changes: Changes;
  clock: Clock;
  log: Log;
}

/** What a user was doing who is disabled ends within five seconds. */
const EVERY_MS = 2_000;
const ASKED_AT_ONCE = 1_000;
const BATCH = 200;
const SMALL = 1_000;

/**
 * Ends what is under way in the name of users who are disabled: turns that run or wait are interrupted, and queued ones
 * never begin. Every replica looks after it; a turn ends once.
 */
export function watchDisabled({ auth, owners, changes, clock, log }: DisabledContext) {
  const end: DecideStop = (state, seen) => {
    if (!state) throw new Error('a turn without a session');
    return { change: interrupt(state, seen, SYSTEM, clock.now()) };
  };

  async function round(signal: AbortSignal): Promise<void> {
    for (let after = ''; !signal.aborted; ) {
      const userIds = await owners.atWork(after, ASKED_AT_ONCE);
      if (userIds.length === 0) return;
      const disabled = (await auth.listDisabledUsers({ userIds }, { signal })).userIds;
      if (disabled.length > 0) await endAll(disabled, signal);
      after = userIds.at(-1) ?? '';
    }
  }

  /** One turn of each session at a time, until there is none. */
  async function endAll(ownerIds: readonly string[], signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const sessions = await owners.unfinished(ownerIds, BATCH);
      if (sessions.length === 0) return;
      const made = await Promise.all(sessions.map((sessionId) => changes.stop(sessionId, SMALL, end)));
      const ended = made.filter(({ change }) => change.turns.length > 0).length;
      // What is left cannot be ended, as its sessions know nothing of it: it is for the next round to look again.
      if (ended === 0) return;
      log.info({ turns: ended }, 'turns of users who are disabled were ended');
    }
  }

  return startRounds({
    clock,
    everyMs: EVERY_MS,
    work: round,
    onFailure: (error) => log.warn({ err: error }, 'whose users are disabled cannot be found out'),
  });
}
