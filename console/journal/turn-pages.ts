import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { unwrapData, unwrapPage } from '../api/client.ts';
import { getTurn, listTurns, type Turn } from '../gen/index.ts';
import { CONVERSATION_TYPES } from './event.ts';
import { EVENTS_PER_REQUEST, readEvent, readPage } from './event-pages.ts';

const TURNS_PER_REQUEST = 100;
const BOUNDARY_TYPES = [
  'turn.started',
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
  'turn.cancelled',
];

/** All turns of a session, oldest first, with the changes up to the event `upToSeq`. */
export interface TurnList {
  turns: Turn[];
  upToSeq: number;
}

const keyOf = (sessionId: string) => ['sessions', sessionId, 'turns'] as const;

/** All turns of a session. `lastSeq` is the newest known event when the request begins. */
export const allTurns = (sessionId: string, lastSeq: number) =>
  queryOptions({
    queryKey: keyOf(sessionId),
    queryFn: async ({ signal }): Promise<TurnList> => {
      const turns: Turn[] = [];
      let cursor: string | undefined;
      do {
        const query = { limit: TURNS_PER_REQUEST, ...(cursor === undefined ? {} : { cursor }) };
        const page = await unwrapPage(listTurns({ path: { session_id: sessionId }, query, signal }));
        turns.push(...page.items);
        cursor = page.next;
      } while (cursor !== undefined);
      return { turns, upToSeq: lastSeq };
    },
  });

export const readTurn = (sessionId: string, turnId: string, signal: AbortSignal) =>
  unwrapData(getTurn({ path: { session_id: sessionId, turn_id: turnId }, signal }));

/** The id of the turn that an event belongs to; null when it has none or does not exist. */
export const turnOfEvent = (sessionId: string, seq: number) =>
  queryOptions({
    queryKey: ['sessions', sessionId, 'event-turn', seq],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => (await readEvent(sessionId, seq, signal))?.turn_id ?? null,
  });

/**
 * Seqs of the first start and of the end of a turn; undefined where it has none. The end of an unfinished turn is not searched:
 * its events are read up to the event `upTo`.
 */
export const turnBounds = (
  sessionId: string,
  { turn_id: turnId, queued_seq: queuedSeq }: Turn,
  upTo: number | undefined,
) =>
  queryOptions({
    queryKey: [...keyOf(sessionId), turnId, 'bounds', upTo ?? 'end'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      let first: number | undefined;
      let last: number | undefined;
      let cursor: string | undefined;
      do {
        const page = await readPage(
          sessionId,
          { types: BOUNDARY_TYPES, after_seq: queuedSeq, cursor },
          signal,
        );
        for (const { turn_id: id, type, seq } of page.items) {
          if (id !== turnId) continue;
          if (type === 'turn.started') first ??= seq;
          else last = seq;
        }
        cursor = page.next;
      } while (cursor !== undefined && (upTo === undefined ? last : first) === undefined);
      return { first, last };
    },
  });

/** The events from seq `first` to seq `last`, page by page. A page may have later events, too. */
export const eventsBetween = (sessionId: string, first: number, last: number) =>
  infiniteQueryOptions({
    queryKey: ['sessions', sessionId, 'between', first, last],
    staleTime: Number.POSITIVE_INFINITY,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const limit = Math.min(EVENTS_PER_REQUEST, last - first + 1);
      const query = { types: CONVERSATION_TYPES, after_seq: first - 1, limit, cursor: pageParam };
      return readPage(sessionId, query, signal);
    },
    getNextPageParam: ({ items, next }) => ((items.at(-1)?.seq ?? 0) < last ? next : undefined),
  });
