import type { Api } from '../support/api.ts';
import { type Follower, follow } from '../support/follower.ts';
import { rowsOn } from '../support/sql.ts';
import { until } from '../support/wait.ts';

/** The share of events after which a follower disconnects and reconnects. */
const DROPS = 0.1;

export interface FollowerFigures {
  followers: number;
  /** Connections of all followers together. */
  joins: number;
  /** Session ids whose received events differ from the journal in any byte. */
  diverged: string[];
}

interface RandomFollowers {
  readonly size: number;
  /** Follows a session until it is idle. */
  add(sessionId: string): void;
  /** Waits until all followers have finished, and compares their events with the journals. */
  verdict(databaseUrl: string): Promise<FollowerFigures>;
  stop(): void;
}

/** Followers that disconnect at random and whenever a process is killed. */
export function createRandomFollowers(api: Api, random: () => number): RandomFollowers {
  const stopping = new AbortController();
  const followers = new Map<string, Follower & { ended: boolean }>();

  return {
    get size() {
      return followers.size;
    },
    add(sessionId) {
      const url = `${api.origin}/api/v1/sessions/${sessionId}/events/stream`;
      const isLast = ({ event }: { event: string | undefined }) => {
        if (event !== 'session.status_idle') return false;
        follower.ended = true;
        return true;
      };
      const follower = Object.assign(
        follow(url, isLast, stopping.signal, () => random() < DROPS, api.credentials),
        { ended: false },
      );
      followers.set(sessionId, follower);
    },
    async verdict(databaseUrl) {
      const all = [...followers];
      await until('all followers have finished', () => all.every(([, { ended }]) => ended), 60_000);
      const journals = await journalsOn(databaseUrl);
      const diverged = all.filter(([sessionId, { events }]) => {
        const received = events.map(({ data }) => data).join('\n');
        return received !== journals.get(sessionId);
      });
      return {
        followers: all.length,
        joins: all.reduce((sum, [, { joins }]) => sum + joins, 0),
        diverged: diverged.map(([sessionId]) => sessionId),
      };
    },
    stop: () => stopping.abort(),
  };
}

/** Returns the stored text of each session's events. */
async function journalsOn(databaseUrl: string): Promise<Map<string, string>> {
  const rows = await rowsOn<{ session_id: string; events: string }>(
    databaseUrl,
    'select session_id, events from sessions.journal order by session_id, last_seq',
  );
  const bySession = Map.groupBy(rows, (row) => row.session_id);
  return new Map(
    Array.from(bySession, ([sessionId, parts]) => [
      sessionId,
      // A row is an array with a line break between its members and nowhere else.
      parts.map(({ events }) => events.slice(1, -1).replaceAll(',\n', '\n')).join('\n'),
    ]),
  );
}
