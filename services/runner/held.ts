import type { Span } from '../../lib/telemetry/tracer.ts';
import type { ClaimedTurn } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { Outbox } from './outbox.ts';

/** Why a turn is stopped before its end: its lease, its time budget, a step that hangs, or this runner's end. */
export type StopCause = 'lost' | 'budget' | 'timeout' | 'stopping';

/** A turn in this runner's hands, from its claim until its outcome is appended or its lease is lost. */
export class HeldTurn {
  readonly claimed: ClaimedTurn;
  readonly outbox: Outbox;
  /** From the claim to the moment in which its outcome is appended. */
  readonly span: Span;
  /** Why it did not reach its end, as a code. */
  failure: string | undefined;
  /** Until when, in milliseconds since the epoch, nobody else can have this turn. */
  leaseUntil: number;
  readonly #controller = new AbortController();

  constructor(claimed: ClaimedTurn, span: Span, outbox: Outbox, leaseUntil: number) {
    this.claimed = claimed;
    this.span = span;
    this.outbox = outbox;
    this.leaseUntil = leaseUntil;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The first cause counts. */
  stop(cause: StopCause): void {
    this.#controller.abort(cause);
  }

  /** What a line in the log says of it. */
  get facts() {
    const { sessionId, turnId } = this.claimed;
    return { session_id: sessionId, turn_id: turnId, trace_id: this.span.trace.traceId };
  }

  get stopped(): StopCause | undefined {
    return this.signal.aborted ? (this.signal.reason as StopCause) : undefined;
  }
}

export interface HeldOptions {
  slots: number;
  intervalMs: number;
  /** Called when a slot has become free. */
  onFree(): void;
}

/** All turns of one runner. */
export class Held {
  readonly #turns = new Map<string, HeldTurn>();
  readonly #options: HeldOptions;
  #whenEmpty: (() => void)[] = [];

  constructor(options: HeldOptions) {
    this.#options = options;
  }

  get free(): number {
    return this.#options.slots - this.#turns.size;
  }

  get size(): number {
    return this.#turns.size;
  }

  has(turn: HeldTurn): boolean {
    return this.#turns.get(turn.claimed.turnId) === turn;
  }

  find(turnId: string): HeldTurn | undefined {
    return this.#turns.get(turnId);
  }

  [Symbol.iterator](): IterableIterator<HeldTurn> {
    return this.#turns.values();
  }

  /** A turn that is claimed again while an older lease of it is still held: the older one is lost. */
  add(claimed: ClaimedTurn, span: Span, leaseUntil: number, now: number): HeldTurn {
    const older = this.#turns.get(claimed.turnId);
    if (older) this.lose(older);
    const outbox = new Outbox(claimed, span.trace, this.#options.intervalMs, now);
    const turn = new HeldTurn(claimed, span, outbox, leaseUntil);
    this.#turns.set(claimed.turnId, turn);
    return turn;
  }

  /** Its outcome is appended. */
  release(turn: HeldTurn): void {
    if (!this.has(turn)) return;
    this.#turns.delete(turn.claimed.turnId);
    turn.span.end(turn.failure);
    this.#options.onFree();
    if (this.#turns.size === 0) for (const done of this.#whenEmpty.splice(0)) done();
  }

  /** Somebody else may have it: it stops, and nothing more is said of it. */
  lose(turn: HeldTurn): void {
    turn.outbox.close();
    turn.stop('lost');
    turn.failure = 'LEASE_LOST';
    this.release(turn);
  }

  /** Resolves as soon as no turn is held. */
  empty(): Promise<void> {
    if (this.#turns.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenEmpty.push(resolve));
  }
}
