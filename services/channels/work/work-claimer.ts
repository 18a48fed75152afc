import { createBackoff } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Log } from '../../../lib/log.ts';
import type { ClaimWorkResponse } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { WakeUp } from './wake-up.ts';
import type { WorkerContext } from './worker-context.ts';

const WAIT_MS = 25_000;
const CLAIM_TIMEOUT_MS = WAIT_MS + 5_000;

/** Free capacity by kind of work. */
export interface Capacity {
  connections: number;
  conversations: number;
  deliveries: number;
}

interface WorkClaimerOptions {
  deployments: Pick<WorkerContext['deployments'], 'claimWork'>;
  clock: Clock;
  ids: Ids;
  log: Log;
  workerId: string;
  leaseSeconds: number;
  capacity(): Capacity;
  /** `leaseUntil` is in milliseconds since the epoch; `requestId` is that of the claim. */
  accept(work: ClaimWorkResponse, leaseUntil: number, requestId: string): void;
}

/** Claims work for the whole worker, one claim at a time. A claim waits in the service until there is work. */
export class WorkClaimer {
  readonly #options: WorkClaimerOptions;
  readonly #stopping = new AbortController();
  readonly #freed = new WakeUp();
  readonly #running: Promise<void>;
  #problem: unknown;

  constructor(options: WorkClaimerOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** The error of the last claim; undefined when it succeeded. */
  get problem(): unknown {
    return this.#problem;
  }

  capacityFreed(): void {
    this.#freed.notify();
  }

  /** Ends the claim in flight. Leases that it might have got end by themselves. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, log, capacity } = this.#options;
    const { signal } = this.#stopping;
    const backoff = createBackoff(clock);
    while (!signal.aborted) {
      const free = capacity();
      if (Object.values(free).every((count) => count <= 0)) {
        await this.#freed.sleep(clock, undefined, signal);
        continue;
      }
      try {
        await this.#claim(free);
        if (this.#problem !== undefined) log.info('claiming work of channels works again');
        this.#problem = undefined;
        backoff.reset();
      } catch (error) {
        if (signal.aborted) return;
        if (this.#problem === undefined)
          log.warn({ err: error }, 'claiming work of channels failed; it is retried');
        this.#problem = error;
        await backoff.pause(signal);
      }
    }
  }

  async #claim(free: Capacity): Promise<void> {
    const { deployments, clock, ids, workerId, leaseSeconds, accept } = this.#options;
    // After a failure, the first claim does not wait, so that the worker knows soon that claims work again.
    const waitMs = this.#problem === undefined ? WAIT_MS : 0;
    const requestId = ids('req');
    const request = { ...free, workerId, leaseSeconds, waitMs };
    const options = { requestId, signal: this.#stopping.signal, timeoutMs: CLAIM_TIMEOUT_MS };
    const work = await deployments.claimWork(request, options);
    // The service counts a lease from the moment at which it found the work, which is at most just before now.
    accept(work, clock.now().getTime() + leaseSeconds * 1_000, requestId);
  }
}
