import type { Span } from '../../../lib/telemetry/tracer.ts';
import type { PinnedSkill } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { ClaimedTurn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { Outbox } from './outbox.ts';
import type { ReportIntervals } from './report-pace.ts';

/** Why a turn stops early: lost lease, time budget, step timeout or shutdown of this runner. */
type StopCause = 'lost' | 'budget' | 'timeout' | 'stopping';

/** A turn that this runner has claimed, until its outcome is journaled or its lease is lost. */
export class LeasedTurn {
  readonly claimed: ClaimedTurn;
  readonly outbox: Outbox;
  /** Lasts from the claim until the outcome is journaled. */
  readonly span: Span;
  /** The error code of the outcome; undefined when the turn has none. */
  errorCode: string | undefined;
  /** The skills that the turn offers, as read when it began to run. */
  skills: readonly PinnedSkill[] = [];
  /** Milliseconds since the epoch. No other runner can claim the turn before. */
  leaseUntil: number;
  /** Steered messages may wait for the turn. */
  isSteered: boolean;
  readonly #controller = new AbortController();

  constructor(claimed: ClaimedTurn, span: Span, outbox: Outbox, leaseUntil: number) {
    this.claimed = claimed;
    this.span = span;
    this.outbox = outbox;
    this.leaseUntil = leaseUntil;
    this.isSteered = claimed.steered === true;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Only the first cause has an effect. */
  stop(cause: StopCause): void {
    this.#controller.abort(cause);
  }

  /** The fields that identify the turn in log lines. */
  get logFields() {
    const { sessionId, turnId } = this.claimed;
    const { traceId, spanId } = this.span.trace;
    return { session_id: sessionId, turn_id: turnId, trace_id: traceId, span_id: spanId };
  }

  get stopCause(): StopCause | undefined {
    return this.signal.aborted ? (this.signal.reason as StopCause) : undefined;
  }
}

interface LeasedTurnsOptions {
  slots: number;
  intervals: ReportIntervals;
  /** Called when a slot becomes free. */
  onFree(): void;
}

/** All turns of one runner. */
export class LeasedTurns {
  readonly #turns = new Map<string, LeasedTurn>();
  /** At most one turn of a session runs at a time. */
  readonly #bySession = new Map<string, LeasedTurn>();
  readonly #options: LeasedTurnsOptions;
  #emptyListeners: (() => void)[] = [];

  constructor(options: LeasedTurnsOptions) {
    this.#options = options;
  }

  get freeSlots(): number {
    return this.#options.slots - this.#turns.size;
  }

  get size(): number {
    return this.#turns.size;
  }

  has(turn: LeasedTurn): boolean {
    return this.#turns.get(turn.claimed.turnId) === turn;
  }

  find(turnId: string): LeasedTurn | undefined {
    return this.#turns.get(turnId);
  }

  findBySession(sessionId: string): LeasedTurn | undefined {
    return this.#bySession.get(sessionId);
  }

  [Symbol.iterator](): IterableIterator<LeasedTurn> {
    return this.#turns.values();
  }

  /** When the turn is claimed again under a new lease, the turn under the old lease is lost. */
  add(claimed: ClaimedTurn, span: Span, leaseUntil: number, now: number): LeasedTurn {
    const older = this.#turns.get(claimed.turnId);
    if (older) this.lose(older);
    const outbox = new Outbox(claimed, span.trace, this.#options.intervals, now);
    const turn = new LeasedTurn(claimed, span, outbox, leaseUntil);
    this.#turns.set(claimed.turnId, turn);
    this.#bySession.set(claimed.sessionId, turn);
    return turn;
  }

  /** Removes a turn whose outcome is journaled. */
  release(turn: LeasedTurn): void {
    if (!this.has(turn)) return;
    const { turnId, sessionId } = turn.claimed;
    this.#turns.delete(turnId);
    if (this.#bySession.get(sessionId) === turn) this.#bySession.delete(sessionId);
    turn.span.end(turn.errorCode);
    this.#options.onFree();
    if (this.#turns.size === 0) for (const resolve of this.#emptyListeners.splice(0)) resolve();
  }

  /** Stops a turn that another runner may have claimed. Nothing more of it is reported. */
  lose(turn: LeasedTurn): void {
    turn.outbox.close();
    turn.stop('lost');
    turn.errorCode = 'LEASE_LOST';
    this.release(turn);
  }

  /** Resolves as soon as there are no turns. */
  whenEmpty(): Promise<void> {
    if (this.#turns.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#emptyListeners.push(resolve));
  }
}
