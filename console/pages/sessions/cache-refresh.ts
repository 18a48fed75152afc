import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { sessions } from '../../api/sessions.ts';
import type { Session } from '../../gen/index.ts';
import type { DurableEvent } from '../../journal/event.ts';

/** Events that change the session resource. */
const SESSION_EVENTS = /^(session|turn|environment)\./;

/**
 * Refetches the session when its journal contains a newer event that changed it. The cached session may be older than the
 * first page of the journal.
 */
export function useSessionRefresh(
  sessionId: string,
  session: Session | undefined,
  events: readonly DurableEvent[] | undefined,
): void {
  const queries = useQueryClient();
  const sessionEvent = events?.findLast(({ type }) => SESSION_EVENTS.test(type));
  const newest = sessionEvent?.seq ?? 0;
  const cached = session?.last_seq ?? Number.POSITIVE_INFINITY;
  const isDeleted = sessionEvent?.type === 'session.deleted';
  useEffect(() => {
    if (newest > cached && !isDeleted)
      void queries.invalidateQueries({ ...sessions.detail(sessionId), exact: true });
  }, [queries, sessionId, newest, cached, isDeleted]);
}
