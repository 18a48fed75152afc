import { queryOptions } from '@tanstack/react-query';
import { askPage } from '../api/client.ts';
import { listEvents } from '../gen/index.ts';
import { LASTING_TYPES } from './event.ts';

const PAGE = 100;
/** Whoever comes back later begins with what is newest then. */
const FRESH_MS = 2_000;

/** Events that last, newest first, from behind a cursor on. */
export const readBack = (sessionId: string, cursor: string | undefined, signal: AbortSignal) =>
  askPage(
    listEvents({
      path: { session_id: sessionId },
      query: { types: LASTING_TYPES.join(','), order: 'newest_first', limit: PAGE, cursor },
      signal,
    }),
  );

/** The newest page, which can be on its way before anything is drawn. */
export const newestPage = (sessionId: string) =>
  queryOptions({
    queryKey: ['sessions', sessionId, 'newest'],
    queryFn: ({ signal }) => readBack(sessionId, undefined, signal),
    staleTime: FRESH_MS,
    gcTime: FRESH_MS,
  });
