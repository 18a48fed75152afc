import { queryOptions } from '@tanstack/react-query';
import { getSession, listAllSessions, listSessions, type Session } from '../gen/index.ts';
import { ask, askPage, pagesOf } from './client.ts';

export interface SessionFilters {
  q?: string | undefined;
  agent_id?: string | undefined;
  assistant_id?: string | undefined;
  deployment_id?: string | undefined;
  status?: Session['status'] | undefined;
  needs_action?: boolean | undefined;
  archived?: boolean | undefined;
}

/** What can be seen of sessions. Keys begin with `sessions`. */
export const sessions = {
  /** One's own; with `all` those of everybody, which only administrators may see. */
  list: (filters: SessionFilters = {}, all = false) =>
    pagesOf(['sessions', 'list', filters, all], (cursor, signal) =>
      askPage((all ? listAllSessions : listSessions)({ query: { ...filters, cursor }, signal })),
    ),
  one: (sessionId: string) =>
    queryOptions({
      queryKey: ['sessions', sessionId],
      queryFn: ({ signal }) => ask(getSession({ path: { session_id: sessionId }, signal })),
    }),
};
