import type { Bus } from '../../lib/bus/bus.ts';
import type { Clock } from '../../lib/clock.ts';

/** Interval of the hints about the sessions that are followed here, so that a lost hint has an effect for at most this long. */
const REPEAT_MS = 2_000;
/** A hint of another instance counts for one to two of these periods: at least one repetition may be lost. */
const PERIOD_MS = 5_000;
/** Most sessions of other instances that are remembered in one period. Further ones count as not followed. */
const MAX_SESSIONS = 100_000;

interface FollowedSessionsOptions {
  bus: Bus;
  clock: Clock;
  /** The sessions with followers in this process. */
  here: Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'>;
}

/**
 * Knows which sessions have followers, here or in another instance of `sessions`. Instances tell each other and the
 * runners with `sessions.followed` hints, which are repeated while a session is followed. Nothing is stored, so that a
 * lost hint makes a session count as not followed until the next one: its runner reports less often.
 */
export class FollowedSessions {
  readonly #options: FollowedSessionsOptions;
  /** Sessions that are followed elsewhere according to the hints of this period and of the last one. */
  #elsewhere = new Set<string>();
  #elsewhereBefore = new Set<string>();
  /** A hint of this process is being published, which calls the listener below, too. */
  #isPublishing = false;
  readonly #unsubscribe: () => void;
  #cancelRepeat = () => {};
  #cancelPeriod = () => {};

  constructor(options: FollowedSessionsOptions) {
    this.#options = options;
    this.#unsubscribe = options.bus.subscribe('sessions.followed', (sessionId) => {
      if (!this.#isPublishing && this.#elsewhere.size < MAX_SESSIONS) this.#elsewhere.add(sessionId);
    });
    this.#scheduleRepeat();
    this.#schedulePeriod();
  }

  /** Tells the other instances and the runners that a session has got its first follower here. */
  announce(sessionId: string): void {
    this.#isPublishing = true;
    this.#options.bus.publish('sessions.followed', sessionId);
    this.#isPublishing = false;
  }

  has(sessionId: string): boolean {
    return (
      this.#options.here.has(sessionId) ||
      this.#elsewhere.has(sessionId) ||
      this.#elsewhereBefore.has(sessionId)
    );
  }

  close(): void {
    this.#unsubscribe();
    this.#cancelRepeat();
    this.#cancelPeriod();
  }

  #scheduleRepeat(): void {
    this.#cancelRepeat = this.#options.clock.after(REPEAT_MS, () => {
      this.#scheduleRepeat();
      for (const sessionId of this.#options.here.keys()) this.announce(sessionId);
    });
  }

  #schedulePeriod(): void {
    this.#cancelPeriod = this.#options.clock.after(PERIOD_MS, () => {
      this.#schedulePeriod();
      this.#elsewhereBefore = this.#elsewhere;
      this.#elsewhere = new Set();
    });
  }
}
