import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { sessions } from '../../api/sessions.ts';
import type { LastingEvent } from '../../journal/event.ts';

/** Events of these kinds change what the session itself says. */
const TELLING = /^(session|turn|environment)\./;

/** Asks for the session again when its journal says that it has changed. */
export function useFreshSession(sessionId: string, events: readonly LastingEvent[] | undefined): void {
  const queries = useQueryClient();
  const telling = events?.findLast(({ type }) => TELLING.test(type));
  const newest = telling?.seq;
  const isGone = telling?.type === 'session.deleted';
  const before = useRef<number>(undefined);
  useEffect(() => {
    if (newest === undefined) return;
    // The first page of the journal was asked for together with the session.
    if (before.current !== undefined && before.current !== newest && !isGone)
      void queries.invalidateQueries({ ...sessions.one(sessionId), exact: true });
    before.current = newest;
  }, [queries, sessionId, newest, isGone]);
}
