import { createBackoff } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';
import { Refusal } from '../../../lib/errors.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { Log } from '../../../lib/log.ts';
import type { Span, Tracer } from '../../../lib/telemetry/tracer.ts';
import { parseTraceparent, type Trace } from '../../../lib/trace.ts';
import type {
  ClaimedTurn,
  ClaimTurnsResponse,
  SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';

/** Interval of claims without a hint: a hint can get lost. */
const POLL_MS = 500;

interface TurnClaimerOptions {
  sessions: Pick<Client<SessionsServiceDefinition>, 'claimTurns'>;
  clock: Clock;
  log: Log;
  tracer: Tracer;
  runnerId: string;
  /** The number of turns that can be claimed now. */
  freeSlots(): number;
  /** Takes over claimed turns. `leaseUntil` is in milliseconds since the epoch; `claim` is the trace of the claim. */
  accept(turns: ClaimedTurn[], leaseUntil: number, leaseMs: number, claim: Trace | undefined): void;
}

/**
 * Claims turns for the whole process: as many as there are free slots, one claim at a time. It claims after a hint,
 * when a slot becomes free while turns may be queued, and every POLL_MS.
 */
export class TurnClaimer {
  readonly #options: TurnClaimerOptions;
  readonly #stopping = new AbortController();
  readonly #backoff: ReturnType<typeof createBackoff>;
  /** Turns may be queued that no claim has asked for. */
  #mayBeQueued = true;
  /** A hint announced queued turns. Only claims after a hint are traced; polls are not. */
  #isHinted = false;
  #running: Promise<void> | undefined;
  #isScheduled = false;
  #problem: unknown;
  #cancelPoll = () => {};

  constructor(options: TurnClaimerOptions) {
    this.#options = options;
    this.#backoff = createBackoff(options.clock);
    this.#poll();
  }

  /** Turns are queued, according to a hint. */
  hint(): void {
    this.#mayBeQueued = this.#isHinted = true;
    this.#wake();
  }

  slotFreed(): void {
    this.#wake();
  }

  /** The error of the last claim; undefined when it succeeded. */
  get problem(): unknown {
    return this.#problem;
  }

  /** Starts no more claims. Resolves when a claim in flight has been answered and its turns are accepted. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancelPoll();
    await this.#running;
  }

  #poll(): void {
    this.#cancelPoll = this.#options.clock.after(POLL_MS, () => this.#poll());
    this.#mayBeQueued = true;
    this.#wake();
  }

  get #canClaim(): boolean {
    return this.#mayBeQueued && this.#options.freeSlots() > 0 && !this.#stopping.signal.aborted;
  }

  #wake(): void {
    if (this.#isScheduled || this.#running || !this.#canClaim) return;
    this.#isScheduled = true;
    // One claim covers all slots that become free in this turn of the event loop.
    setImmediate(() => {
      this.#isScheduled = false;
      this.#running = this.#run().finally(() => {
        this.#running = undefined;
        this.#wake();
      });
    });
  }

  async #run(): Promise<void> {
    while (this.#canClaim) {
      try {
        await this.#claim();
      } catch (error) {
        this.#mayBeQueued = true;
        if (this.#problem === undefined)
          this.#options.log.warn({ err: error }, 'claiming turns failed; retrying');
        this.#problem = error;
        await this.#backoff.pause(this.#stopping.signal);
      }
    }
  }

  async #claim(): Promise<void> {
    const { clock, log, tracer, accept } = this.#options;
    const slots = this.#options.freeSlots();
    const requestedAt = clock.now().getTime();
    const span = this.#isHinted && !tracer.silent ? tracer.begin('claim turns') : undefined;
    this.#mayBeQueued = false;
    this.#isHinted = false;
    const { turns, leaseMs } = await this.#request(slots, span);
    if (this.#problem !== undefined) log.info('claiming turns works again');
    this.#problem = undefined;
    this.#backoff.reset();
    if (turns.length >= slots) this.#mayBeQueued = this.#isHinted = true;
    if (turns.length > 0) accept(turns, requestedAt + leaseMs, leaseMs, span?.trace);
  }

  async #request(slots: number, span: Span | undefined): Promise<ClaimTurnsResponse> {
    const { sessions, runnerId } = this.#options;
    try {
      const response = await sessions.claimTurns({ runnerId, slots, waitMs: 0 }, { trace: span?.trace });
      for (const { traceparent } of response.turns) {
        const queuedBy = parseTraceparent(traceparent);
        if (queuedBy?.sampled) span?.link(queuedBy);
      }
      span?.end();
      return response;
    } catch (error) {
      span?.end(error instanceof Refusal ? error.code : 'INTERNAL');
      throw error;
    }
  }
}
