/** The times of a schedule without its bounds. Instants are milliseconds since 1970. */
export interface Series {
  /** The first time strictly after an instant. */
  after(instant: number): { at: number; note: 'shifted' | 'repeated' | null } | undefined;
  /** The number of times from `from` (inclusive) to `until` (exclusive), where `from < until`. */
  count(from: number, until: number): number;
}

/** `origin` and every `step` milliseconds after it. Elapsed time: changes of clocks have no effect. */
export function intervalSeries(origin: number, step: number): Series {
  /** The number of times before an instant. */
  const before = (instant: number) => Math.max(0, Math.ceil((instant - origin) / step));
  return {
    after: (instant) => ({ at: origin + before(instant + 1) * step, note: null }),
    count: (from, until) => before(until) - before(from),
  };
}

export function singleSeries(at: number): Series {
  return {
    after: (instant) => (instant < at ? { at, note: null } : undefined),
    count: (from, until) => (from <= at && at < until ? 1 : 0),
  };
}
