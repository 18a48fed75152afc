import type { Api } from '../support/api.ts';
import { type Follower, follow } from '../support/follower.ts';
import { rowsOn } from '../support/sql.ts';
import { until } from '../support/wait.ts';

/** The part of events at which a follower drops the stream and joins it again. */
const DROPS = 0.1;

export interface AudienceFigures {
  followers: number;
  /** How often they have joined, the first times included. */
  joins: number;
  /** Followers for whom what they got, put together, is not the journal byte for byte. */
  strayed: string[];
}

export interface Audience {
  readonly size: number;
  /** Somebody follows the session from here on, until it is idle. */
  invite(sessionId: string): void;
  /** Resolves when all have come to the end, with what they say. */
  verdict(databaseUrl: string): Promise<AudienceFigures>;
  leave(): void;
}

/** Followers who drop at random, and who are dropped whenever a process is killed. */
export function createAudience(api: Api, random: () => number): Audience {
  const leaving = new AbortController();
  const followers = new Map<string, Follower & { ended: boolean }>();

  return {
    get size() {
      return followers.size;
    },
    invite(sessionId) {
      const url = `${api.origin}/api/v1/sessions/${sessionId}/events/stream`;
      const isLast = ({ event }: { event: string | undefined }) => {
        if (event !== 'session.status_idle') return false;
        one.ended = true;
        return true;
      };
      const one = Object.assign(
        follow(url, isLast, leaving.signal, () => random() < DROPS),
        { ended: false },
      );
      followers.set(sessionId, one);
    },
    async verdict(databaseUrl) {
      const all = [...followers];
      await until('all followers have come to the end', () => all.every(([, { ended }]) => ended), 60_000);
      const journals = await journalsOn(databaseUrl);
      const strayed = all.filter(([sessionId, { events }]) => {
        const got = events.map(({ data }) => data).join('\n');
        return got !== journals.get(sessionId);
      });
      return {
        followers: all.length,
        joins: all.reduce((sum, [, { joins }]) => sum + joins, 0),
        strayed: strayed.map(([sessionId]) => sessionId),
      };
    },
    leave: () => leaving.abort(),
  };
}

/** The texts of each session's events, as they are stored. */
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
