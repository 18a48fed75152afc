import type { Clock } from '../../lib/clock.ts';
import { Refusal } from '../../lib/errors.ts';
import type { Client } from '../../lib/grpc/contract.ts';
import type { Log } from '../../lib/log.ts';
import type { Span, Tracer } from '../../lib/telemetry/tracer.ts';
import { parseTraceparent, type Trace } from '../../lib/trace.ts';
import type {
  ClaimedTurn,
  ClaimTurnsResponse,
  SessionsServiceDefinition,
} from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { createBackoff } from './backoff.ts';

/** The timer for the hint that never came. */
const POLL_MS = 500;

export interface DispatcherOptions {
  sessions: Pick<Client<SessionsServiceDefinition>, 'claimTurns'>;
  clock: Clock;
  log: Log;
  tracer: Tracer;
  runnerId: string;
  /** How many turns can be taken now. */
  free(): number;
  /** Takes them over. `leaseUntil` is in milliseconds since the epoch, `claim` where the claim stands in its trace. */
  accept(turns: ClaimedTurn[], leaseUntil: number, leaseMs: number, claim: Trace | undefined): void;
}

export interface Dispatcher {
  /** Turns are ready, as far as somebody knows. */
  hint(): void;
  /** A slot has become free. */
  freed(): void;
  /** The reason why turns cannot be claimed at the moment. */
  readonly problem: unknown;
  /** Claims no more. Resolves when a claim under way has been answered, and its turns are accepted. */
  stop(): Promise<void>;
}

/**
 * The one who claims for a process: as many turns as there are free slots, one claim at a time. It asks
 * when it is told of ready turns, when a slot becomes free and more may be waiting, and every half second.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { sessions, clock, log, tracer, runnerId } = options;
  const stopping = new AbortController();
  const backoff = createBackoff(clock);
  /** Turns may be waiting that nobody has asked for yet. */
  let wanted = true;
  /** Somebody has said that turns are ready: such a claim is worth a trace, one that only looks is not. */
  let told = false;
  let running: Promise<void> | undefined;
  let scheduled = false;
  let problem: unknown;
  let cancelPoll = () => {};

  function wake(): void {
    if (scheduled || running || stopping.signal.aborted || !wanted || options.free() <= 0) return;
    scheduled = true;
    // Slots that become free in this turn of the event loop are claimed for together.
    setImmediate(() => {
      scheduled = false;
      running = run().finally(() => {
        running = undefined;
        wake();
      });
    });
  }

  async function run(): Promise<void> {
    while (wanted && options.free() > 0 && !stopping.signal.aborted) {
      try {
        await claim();
      } catch (error) {
        wanted = true;
        if (problem === undefined) log.warn({ err: error }, 'turns cannot be claimed; trying on');
        problem = error;
        await backoff.pause(stopping.signal);
      }
    }
  }

  async function claim(): Promise<void> {
    const slots = options.free();
    const askedAt = clock.now().getTime();
    const span = told && !tracer.silent ? tracer.begin('claim turns') : undefined;
    wanted = false;
    told = false;
    const { turns, leaseMs } = await ask(slots, span);
    if (problem !== undefined) log.info('turns can be claimed again');
    problem = undefined;
    backoff.reset();
    if (turns.length >= slots) wanted = told = true;
    if (turns.length > 0) options.accept(turns, askedAt + leaseMs, leaseMs, span?.trace);
  }

  async function ask(slots: number, span: Span | undefined): Promise<ClaimTurnsResponse> {
    try {
      const answer = await sessions.claimTurns({ runnerId, slots }, { trace: span?.trace });
      for (const { traceparent } of answer.turns) {
        const queuedBy = parseTraceparent(traceparent);
        if (queuedBy?.sampled) span?.link(queuedBy);
      }
      span?.end();
      return answer;
    } catch (error) {
      span?.end(error instanceof Refusal ? error.code : 'INTERNAL');
      throw error;
    }
  }

  function hint(): void {
    wanted = told = true;
    wake();
  }

  function poll(): void {
    cancelPoll = clock.after(POLL_MS, poll);
    wanted = true;
    wake();
  }

  poll();
  return {
    hint,
    freed: wake,
    get problem() {
      return problem;
    },
    async stop() {
      stopping.abort();
      cancelPoll();
      await running;
    },
  };
}
