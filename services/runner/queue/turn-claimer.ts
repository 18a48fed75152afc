import { createBackoff } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { Log } from '../../../lib/log.ts';
import type { Tracer } from '../../../lib/telemetry/tracer.ts';
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
    this.#mayBeQueued = true;
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
    const { clock, log, accept } = this.#options;
    const slots = this.#options.freeSlots();
    const requestedAt = clock.now().getTime();
    this.#mayBeQueued = false;
    const { turns, leaseMs, trace } = await this.#request(slots);
    if (this.#problem !== undefined) log.info('claiming turns works again');
    this.#problem = undefined;
    this.#backoff.reset();
    if (turns.length >= slots) this.#mayBeQueued = true;
    if (turns.length > 0) accept(turns, requestedAt + leaseMs, leaseMs, trace);
  }

  async #request(slots: number): Promise<ClaimTurnsResponse & { trace: Trace | undefined }> {
    const { sessions, runnerId, tracer } = this.#options;
    const startedAt = performance.now();
    const response = await sessions.claimTurns({ runnerId, slots, waitMs: 0 });
    return { ...response, trace: traceOfClaim(tracer, response, startedAt) };
  }
}

/** Records a claim that has returned a traced turn. An idle claim has no span, so the span begins afterwards. */
function traceOfClaim(tracer: Tracer, { turns }: ClaimTurnsResponse, startedAt: number): Trace | undefined {
  if (tracer.silent || turns.length === 0) return undefined;
  const queuedBy = turns.flatMap(({ traceparent }) => parseTraceparent(traceparent) ?? []);
  const span = tracer.beginShared('claim turns', queuedBy, { kind: 'client', startedAt });
  span.end();
  return span.trace.sampled ? span.trace : undefined;
}
