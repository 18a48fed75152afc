import type { Clock } from '../../lib/clock.ts';
import type { Client } from '../../lib/grpc/contract.ts';
import type { Log } from '../../lib/log.ts';
import type { SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Held, HeldTurn } from './held.ts';

/** Parts of a lease after which it is renewed, and after which a failed renewal is tried again. */
const RENEW = 3;
const TRY_AGAIN = 12;
/** Sessions is asked at least this often: a turn may have been taken away without a word that arrived. */
const LONGEST_MS = 1_000;

export interface LeasesOptions {
  sessions: Pick<Client<SessionsServiceDefinition>, 'renewLeases'>;
  clock: Clock;
  log: Log;
  runnerId: string;
  held: Held;
}

export interface Leases {
  /** Turns are held under leases of this length, in milliseconds. */
  watch(leaseMs: number): void;
  stop(): void;
}

/**
 * Keeps the leases of all held turns, with one call for all of them. A turn that sessions has given away
 * is lost at once; a runner that is cut off gives its turns up by itself when their leases have run out.
 */
export function createLeases({ sessions, clock, log, runnerId, held }: LeasesOptions): Leases {
  let leaseMs = 0;
  let cancel: (() => void) | undefined;
  let renewing = false;
  let failing = false;
  let stopped = false;

  function schedule(part: number): void {
    if (stopped || held.size === 0) return;
    const now = clock.now().getTime();
    const firstEnd = Math.min(...Array.from(held, (turn) => turn.leaseUntil));
    cancel = clock.after(
      Math.max(1, Math.min(leaseMs / part, LONGEST_MS, firstEnd - now)),
      () => void renew(),
    );
  }

  async function renew(): Promise<void> {
    cancel = undefined;
    renewing = true;
    const askedAt = clock.now().getTime();
    for (const turn of held) if (turn.leaseUntil <= askedAt) held.lose(turn);
    const asked = [...held];
    if (asked.length > 0) failing = !(await ask(asked, askedAt));
    renewing = false;
    schedule(failing ? TRY_AGAIN : RENEW);
  }

  async function ask(asked: HeldTurn[], askedAt: number): Promise<boolean> {
    const leases = asked.map(({ claimed: { sessionId, turnId, fence } }) => ({ sessionId, turnId, fence }));
    const firstEnd = Math.min(...asked.map((turn) => turn.leaseUntil));
    const deadline = Math.min(askedAt + leaseMs / RENEW, firstEnd);
    try {
      const { lostTurnIds } = await sessions.renewLeases({ runnerId, leases }, { deadline });
      const lost = new Set(lostTurnIds);
      for (const turn of asked) {
        if (lost.has(turn.claimed.turnId)) held.lose(turn);
        else turn.leaseUntil = askedAt + leaseMs;
      }
      return true;
    } catch (error) {
      if (!failing) log.warn({ err: error }, 'leases cannot be renewed; trying on');
      return false;
    }
  }

  return {
    watch(ms) {
      leaseMs = ms;
      if (!cancel && !renewing) schedule(RENEW);
    },
    stop() {
      stopped = true;
      cancel?.();
    },
  };
}
