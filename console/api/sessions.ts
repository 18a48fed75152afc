import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query';
import {
  archiveSession,
  type ContentPart,
  cancelTurn,
  compactSession,
  decideApproval,
  deleteSession,
  type Event,
  forkSession,
  getSession,
  getSessionContext,
  interruptSession,
  listAgentSessions,
  listAllSessions,
  listEvents,
  listSessions,
  releaseQueue,
  type Session,
  sendMessage,
  submitToolResult,
  updateSession,
} from '../gen/index.ts';
import { unwrapData, unwrapPage } from './client.ts';
import { type ListPolling, pagedQuery } from './pages.ts';
import { pollInterval } from './polling.ts';
import { QUEUE_EVENT_TYPES, type QueuedMessage, QueueReader } from './queue.ts';
import type { SessionFilters } from './session-filters.ts';
import { isActive } from './session-state.ts';

export interface OutgoingMessage {
  content: string | ContentPart[];
  busyPolicy?: 'enqueue' | 'interrupt' | 'steer';
  /** The model always gets the message, also when older ones are replaced by a summary. */
  pinned?: boolean;
  key: string;
}

export interface ApprovalDecision {
  approvalId: string;
  decision: 'allow' | 'deny' | 'retry' | 'mark_done' | 'mark_failed' | 'accept' | 'decline' | 'cancel';
  reason?: string | undefined;
  editedInput?: Record<string, unknown> | undefined;
  /** The content of an accepted form. */
  content?: Record<string, unknown> | undefined;
}

/** The result of a call that a client or a person answers. */
export type ToolResult = { output: unknown } | { error: string };

/** Number of events in one chunk of the raw journal. */
export const EVENTS_PER_CHUNK = 100;
const RECENT_MS = 10_000;
const POLLING: ListPolling<Session> = { active: 3_000, idle: 20_000, recent: RECENT_MS, isActive };
/** Each request of an administrator for sessions of other users writes an entry to the audit log. */
const AUDITED_POLLING: ListPolling<Session> = { active: 15_000, idle: 30_000, recent: RECENT_MS, isActive };
const NEWEST_POLLING = { active: 3_000, idle: 30_000, recent: RECENT_MS };
/** Cache lifetime of a chunk that is not full yet. */
const PARTIAL_CHUNK_MS = 5_000;
/** Cache lifetime of a queue before the newest events. */
const OUTDATED_QUEUE_MS = 5_000;
/** Cache lifetime of a context before the newest change. */
const OUTDATED_CONTEXT_MS = 5_000;
/** Body of the request that stops a session. */
export const STOP = { queue: 'hold' } as const;

const pathOf = (sessionId: string) => ({ path: { session_id: sessionId } });

/** Queries and mutations of sessions. Query keys begin with `sessions`. */
export const sessions = {
  /** The user's own sessions; with `all` the sessions of all users, for administrators only. */
  list: (filters: SessionFilters = {}, all = false) =>
    pagedQuery(
      ['sessions', 'list', filters, all],
      (cursor, signal) =>
        unwrapPage((all ? listAllSessions : listSessions)({ query: { ...filters, cursor }, signal })),
      all ? AUDITED_POLLING : POLLING,
    ),
  /** The sessions of an agent: for its managers the sessions of all users, for others their own. */
  ofAgent: (agentId: string) =>
    pagedQuery(
      ['sessions', 'list', 'agent', agentId],
      (cursor, signal) =>
        unwrapPage(listAgentSessions({ path: { agent_id: agentId }, query: { cursor }, signal })),
      AUDITED_POLLING,
    ),
  /** The first page of the user's own sessions. It does not share the cache of `list`, which may hold many pages. */
  newest: (filters: SessionFilters = {}) =>
    queryOptions({
      queryKey: ['sessions', 'list', 'newest', filters],
      queryFn: async ({ signal }) => (await unwrapPage(listSessions({ query: filters, signal }))).items,
      refetchInterval: (query) => pollInterval(query, NEWEST_POLLING, (items) => items.some(isActive)),
    }),
  detail: (sessionId: string) =>
    queryOptions({
      queryKey: ['sessions', sessionId],
      queryFn: ({ signal }) => unwrapData(getSession({ ...pathOf(sessionId), signal })),
    }),
  /** Events `number * EVENTS_PER_CHUNK + 1` to `upTo`, which is at most the end of the chunk. Events are immutable. */
  chunk: (sessionId: string, number: number, upTo: number) =>
    queryOptions({
      queryKey: ['sessions', sessionId, 'chunk', number, upTo],
      staleTime: Number.POSITIVE_INFINITY,
      ...(upTo < (number + 1) * EVENTS_PER_CHUNK ? { gcTime: PARTIAL_CHUNK_MS } : {}),
      queryFn: async ({ signal }) => {
        const items: Event[] = [];
        // A page has fewer events than requested when the events are large.
        for (let after = number * EVENTS_PER_CHUNK; after < upTo; after = items.at(-1)?.seq ?? upTo) {
          const query = { after_seq: after, limit: upTo - after };
          items.push(...(await unwrapPage(listEvents({ ...pathOf(sessionId), query, signal }))).items);
        }
        return items;
      },
    }),
  /** Events of the given types, newest first. */
  eventsOfTypes: (sessionId: string, types: readonly string[]) =>
    pagedQuery(['sessions', sessionId, 'events', types], (cursor, signal) => {
      const query = {
        types: types.join(','),
        order: 'newest_first' as const,
        limit: EVENTS_PER_CHUNK,
        cursor,
      };
      return unwrapPage(listEvents({ ...pathOf(sessionId), query, signal }));
    }),
  /** The queued messages, oldest first. `lastSeq` is the newest known event of the session. */
  queue: (sessionId: string, lastSeq: number) =>
    queryOptions({
      queryKey: ['sessions', sessionId, 'queue', lastSeq],
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: OUTDATED_QUEUE_MS,
      placeholderData: keepPreviousData,
      queryFn: ({ signal }) => readQueue(sessionId, signal),
    }),
  /** What the model gets in the next turn. `changedAt` is the seq of the newest known event that has changed it. */
  context: (sessionId: string, changedAt: number) =>
    queryOptions({
      queryKey: ['sessions', sessionId, 'context', changedAt],
      gcTime: OUTDATED_CONTEXT_MS,
      placeholderData: keepPreviousData,
      queryFn: ({ signal }) => unwrapData(getSessionContext({ ...pathOf(sessionId), signal })),
    }),
  /** Queues a turn that shortens the history for the model. Without a `turn_id` there is nothing to shorten. */
  compact: (sessionId: string, key: string) =>
    unwrapData(compactSession({ ...pathOf(sessionId), headers: { 'Idempotency-Key': key } })),
  send: (sessionId: string, { content, busyPolicy = 'enqueue', pinned = false, key }: OutgoingMessage) =>
    unwrapData(
      sendMessage({
        ...pathOf(sessionId),
        body: { content, busy_policy: busyPolicy, ...(pinned && { pinned }) },
        headers: { 'Idempotency-Key': key },
      }),
    ),
  /** Ends the current turn. Queued turns wait until the queue is released. */
  stop: (sessionId: string) => unwrapData(interruptSession({ ...pathOf(sessionId), body: STOP })),
  releaseQueue: (sessionId: string) => unwrapData(releaseQueue(pathOf(sessionId))),
  /** Fails with TURN_NOT_QUEUED when the turn has started or ended. */
  removeFromQueue: (sessionId: string, turnId: string) =>
    unwrapData(cancelTurn({ path: { session_id: sessionId, turn_id: turnId } })),
  decide: (sessionId: string, { approvalId, decision, reason, editedInput, content }: ApprovalDecision) =>
    unwrapData(
      decideApproval({
        path: { session_id: sessionId, approval_id: approvalId },
        body: {
          decision,
          ...(reason ? { reason } : {}),
          ...(editedInput ? { edited_input: editedInput } : {}),
          ...(content ? { content } : {}),
        },
      }),
    ),
  /** Fails with TOOL_RESULT_CONFLICT after another result and with TOOL_CALL_CLOSED when the call no longer waits. */
  answer: (sessionId: string, toolUseId: string, result: ToolResult) =>
    unwrapData(submitToolResult({ ...pathOf(sessionId), body: { tool_use_id: toolUseId, ...result } })),
  fork: (sessionId: string, afterSeq: number, key: string) =>
    unwrapData(
      forkSession({
        ...pathOf(sessionId),
        body: { after_seq: afterSeq },
        headers: { 'Idempotency-Key': key },
      }),
    ),
  rename: (sessionId: string, title: string) =>
    unwrapData(updateSession({ ...pathOf(sessionId), body: { title: title || null } })),
  archive: (sessionId: string) => unwrapData(archiveSession(pathOf(sessionId))),
  remove: (sessionId: string) => unwrapData(deleteSession(pathOf(sessionId))),
};

async function readQueue(sessionId: string, signal: AbortSignal): Promise<QueuedMessage[]> {
  const reader = new QueueReader();
  const types = QUEUE_EVENT_TYPES.join(',');
  let cursor: string | undefined;
  do {
    const query = { types, order: 'newest_first' as const, limit: EVENTS_PER_CHUNK, cursor };
    const { items, next } = await unwrapPage(listEvents({ ...pathOf(sessionId), query, signal }));
    for (const event of items) reader.add(event);
    cursor = next;
  } while (cursor !== undefined && !reader.isComplete);
  return reader.messages;
}

/** Writes a changed session into the cache and refetches the lists that contain it. */
export function cacheSession(queries: QueryClient, session: Session): void {
  queries.setQueryData(sessions.detail(session.session_id).queryKey, session);
  void queries.invalidateQueries({ queryKey: ['sessions', 'list'] });
}
