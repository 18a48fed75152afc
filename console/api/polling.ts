/** Intervals of a polled query, in milliseconds. */
export interface PollIntervals {
  /** While the data shows unfinished work, and shortly after a change. */
  active: number;
  idle: number;
  /** How long after a change the query is polled at the active interval. A change is often followed by another one. */
  recent: number;
}

/** The part of a query that decides about its interval. */
export interface PolledQuery<Data> {
  state: { data: Data | undefined };
}

interface Observation {
  data: unknown;
  /** Unix milliseconds. */
  firstSeenAt: number;
  changedAt: number;
}

/** The newest data of each query. The first data of a query is no change. */
const observations = new WeakMap<object, Observation>();

/**
 * Returns the delay until the next request of a query. Equal responses leave the identity of the data unchanged. A query
 * polls only while it is used and the page is visible. `isActive` also receives for how long the query has had data, in
 * milliseconds.
 */
export function pollInterval<Data>(
  query: PolledQuery<Data>,
  { active, idle, recent }: PollIntervals,
  isActive: (data: Data, ageMs: number) => boolean,
): number {
  const { data } = query.state;
  if (data === undefined) return active;
  const now = Date.now();
  const { firstSeenAt, changedAt } = observe(query, data, now);
  return now - changedAt < recent || isActive(data, now - firstSeenAt) ? active : idle;
}

function observe(query: object, data: unknown, now: number): Observation {
  const before = observations.get(query);
  if (before && before.data === data) return before;
  const observation = before
    ? { ...before, data, changedAt: now }
    : { data, firstSeenAt: now, changedAt: Number.NEGATIVE_INFINITY };
  observations.set(query, observation);
  return observation;
}
