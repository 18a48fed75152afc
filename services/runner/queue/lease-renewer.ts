import type { Clock } from '../../../lib/clock.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { Log } from '../../../lib/log.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { LeasedTurn, LeasedTurns } from './leased-turns.ts';

/** Leases are renewed after this part of their duration; after a failure, they are renewed after the smaller part. */
const RENEW_PART = 3;
const RETRY_PART = 12;
/** The longest time between two renewals: a hint that a turn was interrupted or steered can get lost. */
const MAX_INTERVAL_MS = 1_000;

interface LeaseRenewerOptions {
  sessions: Pick<Client<SessionsServiceDefinition>, 'renewLeases'>;
  clock: Clock;
  log: Log;
  runnerId: string;
  turns: LeasedTurns;
}

/**
 * Renews the leases of all turns of a runner with one call. A turn that sessions has leased to another runner is lost at once. The
 * answer also names the turns that steered messages wait for. A runner that cannot reach sessions gives up its turns when their leases expire.
 */
export class LeaseRenewer {
  readonly #options: LeaseRenewerOptions;
  #leaseMs = 0;
  #cancel: (() => void) | undefined;
  #isRenewing = false;
  #isFailing = false;
  #isStopped = false;

  constructor(options: LeaseRenewerOptions) {
    this.#options = options;
  }

  /** Renews until there are no turns. `leaseMs` is the lease duration in milliseconds. */
  start(leaseMs: number): void {
    this.#leaseMs = leaseMs;
    if (!this.#cancel && !this.#isRenewing) this.#schedule(RENEW_PART);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  #schedule(part: number): void {
    const { clock, turns } = this.#options;
    if (this.#isStopped || turns.size === 0) return;
    const now = clock.now().getTime();
    const delay = Math.min(this.#leaseMs / part, MAX_INTERVAL_MS, firstExpiry(turns) - now);
    this.#cancel = clock.after(Math.max(1, delay), () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const { clock, turns } = this.#options;
    this.#cancel = undefined;
    this.#isRenewing = true;
    const requestedAt = clock.now().getTime();
    for (const turn of turns) if (turn.leaseUntil <= requestedAt) turns.lose(turn);
    const leased = [...turns];
    if (leased.length > 0) this.#isFailing = !(await this.#request(leased, requestedAt));
    this.#isRenewing = false;
    this.#schedule(this.#isFailing ? RETRY_PART : RENEW_PART);
  }

  /** Resolves with whether sessions answered. */
  async #request(leased: LeasedTurn[], requestedAt: number): Promise<boolean> {
    const { sessions, log, runnerId, turns } = this.#options;
    const leases = leased.map(({ claimed: { sessionId, turnId, fence } }) => ({ sessionId, turnId, fence }));
    const deadline = Math.min(requestedAt + this.#leaseMs / RENEW_PART, firstExpiry(leased));
    try {
      const response = await sessions.renewLeases({ runnerId, leases }, { deadline });
      const lost = new Set(response.lostTurnIds);
      const unextended = new Set(response.unextendedTurnIds);
      const steered = new Set(response.steeredTurnIds);
      for (const turn of leased) {
        const { turnId } = turn.claimed;
        if (steered.has(turnId)) turn.isSteered = true;
        if (lost.has(turnId)) turns.lose(turn);
        else if (!unextended.has(turnId)) turn.leaseUntil = requestedAt + this.#leaseMs;
      }
      return true;
    } catch (error) {
      if (!this.#isFailing)
        log.warn({ err: error }, 'lease renewal failed; turns will be requeued if it keeps failing');
      return false;
    }
  }
}

function firstExpiry(turns: Iterable<LeasedTurn>): number {
  return Math.min(...Array.from(turns, (turn) => turn.leaseUntil));
}
