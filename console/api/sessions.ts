import { queryOptions } from '@tanstack/react-query';
import {
  archiveSession,
  decideApproval,
  deleteSession,
  type Event,
  forkSession,
  getSession,
  interruptSession,
  listAllSessions,
  listEvents,
  listSessions,
  type Session,
  sendMessage,
  updateSession,
} from '../gen/index.ts';
import { ask, askPage } from './client.ts';
import { pagesOf } from './pages.ts';

export interface SessionFilters {
  q?: string | undefined;
  agent_id?: string | undefined;
  assistant_id?: string | undefined;
  deployment_id?: string | undefined;
  status?: Session['status'] | undefined;
  needs_action?: boolean | undefined;
  archived?: boolean | undefined;
}

export interface Sending {
  content: string;
  busyPolicy?: 'enqueue' | 'interrupt';
  key: string;
}

export interface Deciding {
  approvalId: string;
  decision: 'allow' | 'deny' | 'retry' | 'mark_done' | 'mark_failed';
  reason?: string | undefined;
  editedInput?: Record<string, unknown> | undefined;
}

/** Events of one read of the raw journal. */
export const CHUNK = 100;
/** Sessions go on by themselves. */
const FOLLOW_MS = 5_000;
/** Of what is soon read again, with more in it. */
const UNFINISHED_MS = 5_000;

const at = (sessionId: string) => ({ path: { session_id: sessionId } });

/** What can be seen of sessions, and done with them. Keys begin with `sessions`. */
export const sessions = {
  /** One's own; with `all` those of everybody, which only administrators may see. */
  list: (filters: SessionFilters = {}, all = false) =>
    pagesOf(
      ['sessions', 'list', filters, all],
      (cursor, signal) =>
        askPage((all ? listAllSessions : listSessions)({ query: { ...filters, cursor }, signal })),
      FOLLOW_MS,
    ),
  /** The newest of one's own alone, however far down a list of them has been read elsewhere. */
  newest: (filters: SessionFilters = {}) =>
    queryOptions({
      queryKey: ['sessions', 'list', 'newest', filters],
      queryFn: async ({ signal }) => (await askPage(listSessions({ query: filters, signal }))).items,
      refetchInterval: FOLLOW_MS,
    }),
  one: (sessionId: string) =>
    queryOptions({
      queryKey: ['sessions', sessionId],
      queryFn: ({ signal }) => ask(getSession({ ...at(sessionId), signal })),
    }),
  /** Events `number * CHUNK + 1` to `upTo`, which is at most the end of the chunk. They never change. */
  chunk: (sessionId: string, number: number, upTo: number) =>
    queryOptions({
      queryKey: ['sessions', sessionId, 'chunk', number, upTo],
      staleTime: Number.POSITIVE_INFINITY,
      ...(upTo < (number + 1) * CHUNK ? { gcTime: UNFINISHED_MS } : {}),
      queryFn: async ({ signal }) => {
        const items: Event[] = [];
        // Large events make short pages.
        for (let after = number * CHUNK; after < upTo; after = items.at(-1)?.seq ?? upTo) {
          const query = { after_seq: after, limit: upTo - after };
          items.push(...(await askPage(listEvents({ ...at(sessionId), query, signal }))).items);
        }
        return items;
      },
    }),
  /** Events of some types alone, newest first. */
  eventsOf: (sessionId: string, types: readonly string[]) =>
    pagesOf(['sessions', sessionId, 'events', types], (cursor, signal) => {
      const query = { types: types.join(','), order: 'newest_first' as const, limit: CHUNK, cursor };
      return askPage(listEvents({ ...at(sessionId), query, signal }));
    }),
  send: (sessionId: string, { content, busyPolicy = 'enqueue', key }: Sending) =>
    ask(
      sendMessage({
        ...at(sessionId),
        body: { content, busy_policy: busyPolicy },
        headers: { 'Idempotency-Key': key },
      }),
    ),
  interrupt: (sessionId: string) => ask(interruptSession(at(sessionId))),
  decide: (sessionId: string, { approvalId, decision, reason, editedInput }: Deciding) =>
    ask(
      decideApproval({
        path: { session_id: sessionId, approval_id: approvalId },
        body: {
          decision,
          ...(reason ? { reason } : {}),
          ...(editedInput ? { edited_input: editedInput } : {}),
        },
      }),
    ),
  fork: (sessionId: string, afterSeq: number, key: string) =>
    ask(
      forkSession({
        ...at(sessionId),
        body: { after_seq: afterSeq },
        headers: { 'Idempotency-Key': key },
      }),
    ),
  rename: (sessionId: string, title: string) =>
    ask(updateSession({ ...at(sessionId), body: { title: title || null } })),
  archive: (sessionId: string) => ask(archiveSession(at(sessionId))),
  remove: (sessionId: string) => ask(deleteSession(at(sessionId))),
};
