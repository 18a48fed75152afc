/** Intervals between two reports of a turn, in milliseconds. */
export interface ReportIntervals {
  /** While the session has a follower. Reports are sent at multiples of this interval. */
  followedMs: number;
  unfollowedMs: number;
}

/** How long a hint counts. `sessions` repeats it every two seconds while the session has followers. */
const HINT_MS = 3_000;

/** Decides how often a turn reports: often while its session is followed, according to hints and answers of `sessions`. */
export class ReportPace {
  readonly #intervals: ReportIntervals;
  #isFollowed: boolean;
  /** Answers may be older than a hint, so they do not end its effect. */
  #hintedUntil = 0;

  constructor(intervals: ReportIntervals, isFollowed: boolean) {
    this.#intervals = intervals;
    this.#isFollowed = isFollowed;
  }

  /** A hint says that the session has a follower. Returns whether that is new. */
  hint(now: number): boolean {
    const isNew = !this.isFollowed(now);
    this.#hintedUntil = now + HINT_MS;
    return isNew;
  }

  /** `sessions` has answered whether the session has a follower. */
  answer(isFollowed: boolean): void {
    this.#isFollowed = isFollowed;
  }

  isFollowed(now: number): boolean {
    return this.#isFollowed || now < this.#hintedUntil;
  }

  /** Time from the first text of a message to its first delta. A message that is complete before has no deltas. */
  firstMs(now: number): number {
    return this.isFollowed(now) ? this.#intervals.followedMs : this.#intervals.unfollowedMs;
  }

  /** Shortest time between two deltas of a message. Ticks add up to one `followedMs`. */
  nextMs(now: number): number {
    return this.firstMs(now) - this.#intervals.followedMs;
  }

  /** Time from the begin of a turn to its first report, unless an event is reported immediately. */
  get minimumMs(): number {
    return this.#intervals.followedMs;
  }
}
