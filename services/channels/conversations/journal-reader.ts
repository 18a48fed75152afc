import { createBackoff } from '../../../lib/backoff.ts';
import { Refusal } from '../../../lib/errors.ts';
import { FOLDED_TYPES, JournalFold } from '../rendering/journal-fold.ts';
import { parseEvent } from '../rendering/parse-event.ts';
import { asOwner, type WorkerContext } from '../work/worker-context.ts';

interface JournalReaderOptions extends Pick<WorkerContext, 'sessions' | 'clock' | 'log'> {
  sessionId: string;
  ownerId: string;
  /** All events up to this seq are told. */
  afterSeq: number;
  /** Called after each change of the fold. */
  onChange(): void;
}

/** Follows the journal of a session as its owner, without counting as a follower. */
export class JournalReader {
  readonly fold = new JournalFold();
  readonly #options: JournalReaderOptions;
  #seq: number;
  #isCaughtUp = false;
  #isGone = false;

  constructor(options: JournalReaderOptions) {
    this.#options = options;
    this.#seq = options.afterSeq;
  }

  /** The session does not exist any more, or not for this owner. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Everything was read, and no turn is in progress. Queued turns of a held queue do not count. */
  isIdle(): boolean {
    if (this.#isGone) return true;
    if (!this.#isCaughtUp) return false;
    return [...this.fold.turns].every(({ status }) => status !== 'running');
  }

  /** Whether turns wait to be started. */
  hasQueued(): boolean {
    for (const { status } of this.fold.turns) if (status === 'queued') return true;
    return false;
  }

  /**
   * Returns the seq up to which everything is told. Turns that go on, and the given ones, are folded from their beginning
   * when the conversation is claimed again.
   */
  toldSeq(openTurns: ReadonlySet<string>): number {
    let told = this.#seq;
    for (const turn of this.fold.turns) {
      if (turn.status !== 'ended' || openTurns.has(turn.turnId)) told = Math.min(told, turn.firstSeq - 1);
    }
    return told;
  }

  /** Resolves when the signal aborts or the session is gone. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const backoff = createBackoff(clock);
    while (!signal.aborted && !this.#isGone) {
      try {
        await this.#follow(signal, () => backoff.reset());
      } catch (error) {
        if (signal.aborted) return;
        if (isGone(error)) this.#isGone = true;
        else {
          this.#isCaughtUp = false;
          log.info({ err: error }, 'following a session failed; the channel worker follows it again');
        }
      }
      this.#options.onChange();
      if (!this.#isGone) await backoff.pause(signal);
    }
  }

  async #follow(signal: AbortSignal, onAnswer: () => void): Promise<void> {
    const { sessions, sessionId, ownerId, onChange } = this.#options;
    const request = {
      ...{ sessionId, afterSeq: this.#seq, fromNow: false, untilCaughtUp: false },
      ...{ types: [...FOLDED_TYPES], mergeDeltas: true, passive: true },
    };
    for await (const { events, seq, caughtUp } of sessions.follow(request, asOwner(ownerId, signal))) {
      onAnswer();
      for (const event of events) {
        const parsed = parseEvent(event);
        if (parsed) this.fold.apply(parsed);
      }
      this.#seq = Math.max(this.#seq, seq);
      if (caughtUp) this.#isCaughtUp = true;
      onChange();
    }
  }
}

const GONE: readonly string[] = ['SESSION_NOT_FOUND', 'INVALID_CURSOR', 'FORBIDDEN'];

function isGone(error: unknown): boolean {
  return error instanceof Refusal && GONE.includes(error.code);
}
