import { type CursorScope, decodeCursor, encodeCursor, pageOf } from '../../../lib/db/cursor.ts';
import { refuse } from '../../../lib/errors.ts';
import { isEventType } from '../../../lib/events.ts';
import { callerOf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { withPrefix } from '../../../lib/ids.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { sessionNotFound } from '../domain/access.ts';
import type { JournalEvent } from '../journal.ts';
import type { SessionRow } from '../store/lists.ts';
import type { HandlerContext } from './context.ts';
import { invocationOf, sessionOf, turnShapeOf } from './shapes.ts';

type Methods = Pick<
  Handlers<SessionsServiceDefinition>,
  | 'listSessions'
  | 'getSession'
  | 'listMessages'
  | 'listTurns'
  | 'getTurn'
  | 'listEvents'
  | 'follow'
  | 'listDeploymentSessions'
>;

const PAGE_BYTES = 4 * 1024 * 1024;
/** Events one request looks at when a filter leaves most of them out. */
const MAX_SCANNED = 20_000;
const AFTER_ALL_INVOCATIONS = 'ses_~';

/** What can be read of sessions. Somebody else's session looks like one that is not there. */
export function readingHandlers({ lists, events, follower }: HandlerContext): Methods {
  async function owned(sessionId: string, call: Call): Promise<SessionRow> {
    const row = await lists.session(sessionId, call);
    if (!row || row.owner_id !== callerOf(call).userId) throw sessionNotFound(sessionId);
    return row;
  }

  return {
    async listSessions(request, call) {
      const { agentId, deploymentId, status, needsAction, q, archived } = request;
      const { limit, cursor } = request.page ?? FIRST_PAGE;
      const ownerId = callerOf(call).userId;
      const scope = ['sessions', ownerId, agentId, deploymentId, status, needsAction, q, archived];
      const before = decodeCursor(scope, cursor);
      const filter = {
        ownerId,
        agentId,
        deploymentId,
        status,
        needsAction,
        q,
        archived,
        before,
        limit: limit + 1,
      };
      const page = pageOf(await lists.sessions(filter, call), limit, scope, (row) => row.session_id);
      return { sessions: page.rows.map(sessionOf), page: { nextCursor: page.nextCursor } };
    },

    async getSession({ sessionId }, call) {
      return { session: sessionOf(await owned(sessionId, call)) };
    },

    async listTurns({ sessionId, page: asked }, call) {
      await owned(sessionId, call);
      const { limit, cursor } = asked ?? FIRST_PAGE;
      const scope = ['turns', callerOf(call).userId, sessionId];
      const after = numberIn(decodeCursor(scope, cursor));
      const page = pageOf(await lists.turns(sessionId, after, limit + 1, call), limit, scope, (row) =>
        String(row.position),
      );
      return { turns: page.rows.map(turnShapeOf), page: { nextCursor: page.nextCursor } };
    },

    async getTurn({ sessionId, turnId }, call) {
      await owned(sessionId, call);
      const turn = await lists.turn(sessionId, turnId, call);
      if (!turn) throw refuse('TURN_NOT_FOUND', `the session has no turn ${turnId}`);
      return { turn: turnShapeOf(turn) };
    },

    async listMessages({ sessionId, page: asked }, call) {
      // The runner reads the messages of whatever session it works on; everybody else their own.
      if (call.peer !== 'runner') await owned(sessionId, call);
      const { limit, cursor } = asked ?? FIRST_PAGE;
      const scope = ['messages', call.caller?.userId, sessionId];
      const after = numberIn(decodeCursor(scope, cursor));
      return eventPage(await events.messagesAfter(sessionId, after, limit + 1, call), limit, scope);
    },

    async listEvents({ sessionId, page: asked, afterSeq, types }, call) {
      knownTypes(types);
      const { last_seq: lastSeq } = await owned(sessionId, call);
      const { limit, cursor } = asked ?? FIRST_PAGE;
      const scope = ['events', callerOf(call).userId, sessionId, afterSeq, ...types];
      const wanted = new Set(types);
      let place = numberIn(decodeCursor(scope, cursor)) || afterSeq;
      const found: JournalEvent[] = [];
      let bytes = 0;
      let scanned = 0;
      // A filter may leave nothing of what was read, so reading goes on, though not for ever.
      while (found.length <= limit && place < lastSeq && bytes < PAGE_BYTES && scanned < MAX_SCANNED) {
        const read = await events.after(sessionId, place, limit + 1, call);
        if (read.length === 0) break;
        scanned += read.length;
        place = read.at(-1)?.seq ?? place;
        for (const event of read) {
          if (wanted.size > 0 && !wanted.has(event.type)) continue;
          found.push(event);
          bytes += event.json.length;
        }
      }
      const page = eventPage(found, limit, scope);
      const unread = page.page.nextCursor === '' && place < lastSeq;
      return unread ? { ...page, page: { nextCursor: encodeCursor(scope, String(place)) } } : page;
    },

    async *follow({ sessionId, afterSeq, fromNow, types }, call) {
      knownTypes(types);
      const { last_seq: lastSeq } = await owned(sessionId, call);
      if (afterSeq > lastSeq) {
        throw refuse(
          'INVALID_CURSOR',
          `the session's newest event is ${lastSeq}; ${afterSeq} lies beyond it`,
        );
      }
      const start = fromNow ? lastSeq : afterSeq;
      yield { events: [], seq: start, caughtUp: false };
      yield* follower.follow(sessionId, start, types, call.signal);
    },

    async listDeploymentSessions({ deploymentId, beforeInvocationId, limit }, call) {
      const before = beforeInvocationId ? withPrefix('ses', beforeInvocationId) : AFTER_ALL_INVOCATIONS;
      const rows = await lists.ofDeployment(deploymentId, before, limit, call);
      return {
        sessions: rows.map((row) => ({
          invocationId: invocationOf(row.session_id),
          sessionId: row.session_id,
          createdAt: row.created_at,
          bodyBytes: row.body_bytes,
          sourceAddress: row.source_address,
        })),
      };
    },
  };
}

const FIRST_PAGE = { limit: 50, cursor: '' };

function knownTypes(types: string[]): void {
  const unknown = types.find((type) => !isEventType(type));
  if (unknown !== undefined) throw refuse('INVALID_REQUEST', `there is no event type ${unknown}`);
}

function numberIn(key: string | undefined): number {
  return key === undefined ? 0 : Number(key);
}

/** Cuts what was read to a page of `limit` events and about 4 MiB, at least one event long. */
function eventPage(read: JournalEvent[], limit: number, scope: CursorScope) {
  let bytes = 0;
  let length = 0;
  for (const event of read.slice(0, limit)) {
    bytes += event.json.length;
    if (length > 0 && bytes > PAGE_BYTES) break;
    length++;
  }
  const page = read.slice(0, length);
  const last = page.at(-1);
  const more = read.length > length && last !== undefined;
  return { events: page, page: { nextCursor: more ? encodeCursor(scope, String(last.seq)) : '' } };
}
