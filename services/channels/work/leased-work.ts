import type { LeaseReference } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';

/** Work under a lease that this worker renews. */
export interface LeasedRun {
  readonly lease: LeaseReference;
  /** Milliseconds since the epoch. */
  leaseUntil: number;
  /** Ends without a report. */
  lose(): void;
  /** Ends and releases the lease. */
  stop(): void;
  /** Resolves when the run has ended. Never rejects. */
  run(): Promise<void>;
}

/** The runs of one kind by deployment and conversation. */
export class LeasedWork<Run extends LeasedRun> {
  readonly #runs = new Map<string, Run>();
  readonly #onEnd: () => void;
  readonly #waiting: (() => void)[] = [];

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  get size(): number {
    return this.#runs.size;
  }

  [Symbol.iterator](): MapIterator<Run> {
    return this.#runs.values();
  }

  find(lease: Pick<LeaseReference, 'deploymentId' | 'conversation'>): Run | undefined {
    return this.#runs.get(keyOf(lease));
  }

  /** An earlier run of the same work has lost its lease. */
  start(run: Run): void {
    const key = keyOf(run.lease);
    this.#runs.get(key)?.lose();
    this.#runs.set(key, run);
    void run.run().finally(() => {
      if (this.#runs.get(key) === run) this.#runs.delete(key);
      if (this.#runs.size === 0) for (const resolve of this.#waiting.splice(0)) resolve();
      this.#onEnd();
    });
  }

  async whenEmpty(): Promise<void> {
    if (this.#runs.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

function keyOf({
  deploymentId,
  conversation,
}: Pick<LeaseReference, 'deploymentId' | 'conversation'>): string {
  return `${deploymentId} ${conversation}`;
}
