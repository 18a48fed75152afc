import { refuse } from '../../../lib/errors.ts';
import { isEventType } from '../../../lib/events.ts';
import { administratorOf, callerOf, isAdministrator, onBehalf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { withPrefix } from '../../../lib/ids.ts';
import type {
  ListSessionsRequest,
  SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Chunk } from '../follow.ts';
import { HISTORY, MESSAGES } from '../store/events.ts';
import type { HandlerContext } from './context.ts';
import { asGuest } from './guests.ts';
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

const REACHES: readonly string[] = ['agent', 'all'];
const AFTER_ALL_INVOCATIONS = 'ses_~';

/** What can be read of sessions. */
export function readingHandlers({
  agents,
  clock,
  lists,
  events,
  follower,
  reach,
  record,
}: HandlerContext): Methods {
  const { readable, reading } = reach;

  /** Undefined: of everybody. */
  async function ownerIn({ reach: wanted, agentId }: ListSessionsRequest, call: Call) {
    if (wanted === 'all') {
      administratorOf(call);
      await record({ action: 'sessions.list', targetId: '' }, call);
      return undefined;
    }
    const isManager = wanted === 'agent' && (await agents.getLevel({ agentId }, call)).level === 'manage';
    if (isManager && isAdministrator(call))
      await record({ action: 'sessions.list', targetId: agentId }, call);
    return isManager ? undefined : callerOf(call).userId;
  }

  return {
    async listSessions(request, call) {
      if (request.reach !== undefined && !REACHES.includes(request.reach))
        throw refuse('INVALID_REQUEST', 'reach is one of agent, all');
      const { page, ...filter } = request;
      const whose = { callerId: callerOf(call).userId, ownerId: await ownerIn(request, call) };
      const by = whose.ownerId === undefined ? call : onBehalf(call);
      const { rows, nextCursor } = await lists.sessions({ ...filter, ...whose }, page ?? FIRST_PAGE, by);
      return { sessions: rows.map(sessionOf), page: { nextCursor } };
    },

    async getSession({ sessionId }, call) {
      return { session: sessionOf(await readable(sessionId, call)) };
    },

    async listTurns({ sessionId, page, unfinished }, call) {
      const { row, by } = await reading(sessionId, call);
      const only = unfinished ? row.owner_id : undefined;
      const { rows, nextCursor } = await lists.turns(sessionId, page ?? FIRST_PAGE, only, by);
      return { turns: rows.map(turnShapeOf), page: { nextCursor } };
    },

    async getTurn({ sessionId, turnId }, call) {
      const { by } = await reading(sessionId, call);
      const turn = await lists.turn(sessionId, turnId, by);
      if (!turn) throw refuse('TURN_NOT_FOUND', `the session has no turn ${turnId}`);
      return { turn: turnShapeOf(turn) };
    },

    async listMessages({ sessionId, page }, call) {
      // The runner reads the history of whatever session it works on; everybody else the messages of their own.
      const forModel = call.peer === 'runner';
      const { by } = forModel ? { by: call } : await reading(sessionId, call);
      const wanted = forModel ? HISTORY : MESSAGES;
      const { events: found, nextCursor } = await events.history(sessionId, wanted, page ?? FIRST_PAGE, by);
      return { events: found, page: { nextCursor } };
    },

    async listEvents({ sessionId, page, afterSeq, types, newestFirst = false }, call) {
      knownTypes(types);
      const { row, by } = await reading(sessionId, call);
      const range = { afterSeq, lastSeq: row.last_seq, types, newestFirst };
      const { events: found, nextCursor } = await events.page(sessionId, range, page ?? FIRST_PAGE, by);
      return { events: found, page: { nextCursor } };
    },

    async follow({ sessionId, afterSeq, fromNow, types, untilCaughtUp }, call) {
      knownTypes(types);
      const { last_seq: lastSeq, owner_id: ownerId, agent_id: agentId } = await readable(sessionId, call);
      if (afterSeq > lastSeq) {
        throw refuse(
          'INVALID_CURSOR',
          `the session's newest event is ${lastSeq}; ${afterSeq} lies beyond it`,
        );
      }
      const start = fromNow ? lastSeq : afterSeq;
      const follow = (signal: AbortSignal) => follower.follow(sessionId, start, types, signal);
      const isOwn = ownerId === callerOf(call).userId || isAdministrator(call);
      const chunks = isOwn ? follow(call.signal) : asGuest({ agents, clock }, agentId, call, follow);
      return untilCaughtUp ? upToNow(chunks) : chunks;
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

async function* upToNow(chunks: AsyncIterable<Chunk>): AsyncGenerator<Chunk> {
  for await (const chunk of chunks) {
    yield chunk;
    if (chunk.caughtUp) return;
  }
}

const FIRST_PAGE = { limit: 50, cursor: '' };

function knownTypes(types: string[]): void {
  const unknown = types.find((type) => !isEventType(type));
  if (unknown !== undefined) throw refuse('INVALID_REQUEST', `there is no event type ${unknown}`);
}
