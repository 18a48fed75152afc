import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { LeaseReference } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { LeasedRun } from './leased-work.ts';
import type { WorkerContext } from './worker-context.ts';

/** Leases are renewed after this part of their duration, and after a failure after the smaller part. */
const RENEW_PART = 3;
const RETRY_PART = 12;

interface LeaseRenewerOptions {
  deployments: Pick<WorkerContext['deployments'], 'renewLeases'>;
  clock: Clock;
  log: Log;
  workerId: string;
  leaseSeconds: number;
  runs(): Iterable<LeasedRun>;
}

/** Renews the leases of all connections and conversations of a worker with one call. */
export class LeaseRenewer {
  readonly #options: LeaseRenewerOptions;
  #cancel = () => {};
  #renewing: Promise<void> | undefined;
  #isFailing = false;
  #isStopped = false;

  constructor(options: LeaseRenewerOptions) {
    this.#options = options;
    this.#schedule();
  }

  /** Renews at once, because a channel may have changed. */
  renewNow(): void {
    if (this.#isStopped || this.#renewing !== undefined) return;
    this.#cancel();
    this.#renewing = this.#renew().finally(() => {
      this.#renewing = undefined;
      this.#schedule();
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  #schedule(): void {
    if (this.#isStopped) return;
    const { clock, leaseSeconds } = this.#options;
    const part = this.#isFailing ? RETRY_PART : RENEW_PART;
    this.#cancel = clock.after((leaseSeconds * 1_000) / part, () => this.renewNow());
  }

  async #renew(): Promise<void> {
    const { deployments, clock, log, workerId, leaseSeconds, runs } = this.#options;
    const requestedAt = clock.now().getTime();
    const leased = [...runs()];
    for (const run of leased) if (run.leaseUntil <= requestedAt) run.lose();
    const held = leased.filter(({ leaseUntil }) => leaseUntil > requestedAt);
    if (held.length === 0) return;
    const deadline = requestedAt + (leaseSeconds * 1_000) / RENEW_PART;
    try {
      const leases = held.map(({ lease }) => lease);
      const { lost } = await deployments.renewLeases({ workerId, leaseSeconds, leases }, { deadline });
      const lostKeys = new Set(lost.map(keyOf));
      for (const run of held) {
        if (lostKeys.has(keyOf(run.lease))) run.lose();
        else run.leaseUntil = requestedAt + leaseSeconds * 1_000;
      }
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing)
        log.warn({ err: error }, 'lease renewal failed; other channel workers take over if it keeps failing');
      this.#isFailing = true;
    }
  }
}

function keyOf({ kind, deploymentId, conversation, fence }: LeaseReference): string {
  return `${kind} ${deploymentId} ${fence} ${conversation}`;
}
