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

/** Interval of claims without a hint at a service that does not wait: a hint can get lost. */
const POLL_MS = 500;
/** How long a claim waits in the service for turns. */
const WAIT_MS = 20_000;
/** Timeout of a claim: the time to wait, and time for its answer. */
const CLAIM_TIMEOUT_MS = WAIT_MS + 5_000;
/** A stopping runner gives up its waiting claim when the service has not ended it within this time. */
const END_TIMEOUT_MS = 1_000;

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
 * Claims turns for the whole process: as many as there are free slots, one claim at a time. A claim waits in the service
 * until turns are ready. A service that does not wait, because it is stopping or of an older release, gets a claim after a
 * hint and every POLL_MS.
 */
export class TurnClaimer {
  readonly #options: TurnClaimerOptions;
  readonly #stopping = new AbortController();
  readonly #abandoned = new AbortController();
  readonly #backoff: ReturnType<typeof createBackoff>;
  /** A claim may get turns, or waits for them. */
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

  /**
   * Starts no more claims and ends the waiting one. Resolves when the claim in flight has been answered and its turns are
   * accepted. The service ends the claim, because turns of an answer that is under way would be lost with a cancelled call.
   */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancelPoll();
    if (!this.#running) return;
    const cancelTimeout = this.#options.clock.after(END_TIMEOUT_MS, () => this.abandon());
    await this.#endWaitingClaim();
    await this.#running;
    cancelTimeout();
  }

  /** Starts no more claims and gives up the claim in flight. The service hands its turns back or their leases expire. */
  abandon(): void {
    this.#stopping.abort();
    this.#cancelPoll();
    this.#abandoned.abort();
  }

  async #endWaitingClaim(): Promise<void> {
    const { sessions, runnerId } = this.#options;
    try {
      const signal = this.#abandoned.signal;
      await sessions.claimTurns({ runnerId, slots: 0, waitMs: 0 }, { signal });
    } catch {
      // A service of an older release refuses the request, and its claims do not wait.
    }
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
        if (this.#stopping.signal.aborted) return;
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
    const { turns, leaseMs, waitedMs, trace } = await this.#request(slots);
    if (this.#problem !== undefined) log.info('claiming turns works again');
    this.#problem = undefined;
    this.#backoff.reset();
    // The next claim waits, too. A service that answered at once without turns does not wait.
    if (turns.length > 0 || waitedMs > 0) this.#mayBeQueued = true;
    if (turns.length > 0) accept(turns, requestedAt + waitedMs + leaseMs, leaseMs, trace);
  }

  async #request(slots: number): Promise<ClaimTurnsResponse & { trace: Trace | undefined }> {
    const { sessions, runnerId, tracer } = this.#options;
    // After a failure, the first claim does not wait, so that the runner knows soon that claims work again.
    const waitMs = this.#problem === undefined ? WAIT_MS : 0;
    const startedAt = performance.now();
    const options = { signal: this.#abandoned.signal, timeoutMs: CLAIM_TIMEOUT_MS };
    const response = await sessions.claimTurns({ runnerId, slots, waitMs }, options);
    return { ...response, trace: traceOfClaim(tracer, response, startedAt + response.waitedMs) };
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
