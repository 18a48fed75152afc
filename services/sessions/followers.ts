import type { Bus } from '../../lib/bus/bus.ts';
import type { Clock } from '../../lib/clock.ts';
import { FollowedSessions } from './followed-sessions.ts';
import { FollowersBySession } from './followers-by-session.ts';
import {
  type FollowChunk,
  type FollowerRegistry,
  type FollowOptions,
  JournalFollower,
} from './journal-follower.ts';
import { ReadAhead } from './read-ahead.ts';
import type { EventStore } from './store/events.ts';
import type { Tail, Tails } from './store/tails.ts';

/** Interval of the query that finds waiting followers whose hint was lost. It covers all of them at once. */
const PROBE_MS = 1_000;

interface FollowersContext {
  tails: Tails;
  headsAfter: EventStore['headsAfter'];
  bus: Bus;
  clock: Clock;
  /** Called when a probe has failed. */
  warn(error: unknown): void;
}

export type Followers = ReturnType<typeof createFollowers>;

/**
 * Follows journals. Each follower subscribes first, reads the table after its seq, waits for a hint, and reads again.
 * Events come only from the table; a hint only causes a read. Followers at the same seq share a read, and one probe a second
 * covers all waiting followers of this process.
 */
export function createFollowers({ tails, headsAfter, bus, clock, warn }: FollowersContext) {
  const followers = new FollowersBySession<JournalFollower>();
  const followedSessions = new FollowedSessions({ bus, clock, here: followers });
  const readAhead = new ReadAhead<JournalFollower>();
  /** Reads under way, by session and start seq. */
  const reads = new Map<string, Map<number, Promise<Tail>>>();
  const unsubscribe = bus.subscribe('sessions.appended', (sessionId) => {
    // A read that began before the hint may miss the new events, so later followers start another.
    reads.delete(sessionId);
    for (const follower of followers.of(sessionId)) follower.wake();
  });
  let cancelProbe = clock.after(PROBE_MS, probe);
  let closed = false;

  function probe(): void {
    wakeBehind()
      .catch(warn)
      .finally(() => {
        if (!closed) cancelProbe = clock.after(PROBE_MS, probe);
      });
  }

  async function wakeBehind(): Promise<void> {
    const { sessionIds } = followers;
    if (sessionIds.length === 0) return;
    const seqs = sessionIds.map((sessionId) => lowestSeq(followers.of(sessionId)));
    for (const { sessionId, lastSeq } of await headsAfter(sessionIds, seqs)) {
      for (const follower of followers.of(sessionId)) if (follower.seq < lastSeq) follower.wake();
    }
  }

  function read(sessionId: string, afterSeq: number): Promise<Tail> {
    const ofSession = reads.get(sessionId) ?? new Map<number, Promise<Tail>>();
    const shared = ofSession.get(afterSeq);
    if (shared !== undefined) return shared;
    const reading = tails(sessionId, afterSeq).finally(() => {
      ofSession.delete(afterSeq);
      if (ofSession.size === 0 && reads.get(sessionId) === ofSession) reads.delete(sessionId);
    });
    reads.set(sessionId, ofSession.set(afterSeq, reading));
    return reading;
  }

  const registry: FollowerRegistry = {
    read,
    readAhead,
    leave(follower) {
      readAhead.take(follower);
      followers.remove(follower);
    },
  };

  return {
    /** The first chunk holds the start seq and no events. Ends when the session is deleted or the signal aborts. */
    follow(
      sessionId: string,
      afterSeq: number,
      options: FollowOptions,
      signal: AbortSignal,
    ): AsyncIterableIterator<FollowChunk> {
      const follower = new JournalFollower(registry, sessionId, afterSeq, options, signal);
      const wasFollowed = followers.has(sessionId);
      followers.add(follower);
      if (!wasFollowed && !options.isPassive) followedSessions.announce(sessionId);
      return follower;
    },

    /** Whether the session has a follower that is not passive, in this process or in another one. */
    isFollowed: (sessionId: string): boolean => followedSessions.has(sessionId),
    /** The number of followers in this process. */
    count: (): number => followers.count,

    close(): void {
      closed = true;
      cancelProbe();
      unsubscribe();
      followedSessions.close();
      for (const follower of followers) follower.wake();
    },
  };
}

function lowestSeq(followers: Iterable<JournalFollower>): number {
  let lowest = Number.POSITIVE_INFINITY;
  for (const { seq } of followers) lowest = Math.min(lowest, seq);
  return lowest;
}
