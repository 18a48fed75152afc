import { refuse, refuseField } from '../../../lib/errors.ts';
import { isEventType } from '../../../lib/event-types.ts';
import { administratorOf, callerOf, databaseOptionsOf, isAdministrator } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { withPrefix } from '../../../lib/ids.ts';
import { checkMetadataFilter } from '../../../lib/metadata-filter.ts';
import type {
  ListSessionsRequest,
  SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { DERIVED_STATES, type DerivedState } from '../domain/derived-state.ts';
import { checkDeploymentSessionsLimit, checkHistoryPage, checkPage } from '../domain/page.ts';
import type { FollowChunk } from '../journal-follower.ts';
import { MESSAGES } from '../store/history.ts';
import type { ListedTurn } from '../store/lists.ts';
import { mergeDeltas } from '../store/merge-deltas.ts';
import type { SessionsHandlerContext } from './context.ts';
import { followWhileManager } from './manager-follow.ts';
import { invocationOf, sessionMessage, turnMessage, turnNotFound } from './proto.ts';

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

const MAX_WAIT_MS = 60_000;
const LIST_SCOPES: readonly string[] = ['agent', 'all'];
/** Sorts after every session id. */
const AFTER_ALL_INVOCATIONS = 'ses_~';

/** Handlers that read sessions, turns and events. */
export function queryHandlers({
  agents,
  clock,
  lists,
  events,
  followers,
  access,
  record,
  turnWaits,
}: SessionsHandlerContext): Methods {
  const { requireReader, readAccess } = access;

  /** Returns the owner whose sessions are listed. Undefined lists the sessions of every owner. */
  async function listedOwner({ reach, agentId }: ListSessionsRequest, call: Call) {
    if (reach === 'all') {
      administratorOf(call);
      await record({ action: 'sessions.list', targetId: '' }, call);
      return undefined;
    }
    const isManager = reach === 'agent' && (await agents.getLevel({ agentId }, call)).level === 'manage';
    if (isManager && isAdministrator(call))
      await record({ action: 'sessions.list', targetId: agentId }, call);
    return isManager ? undefined : callerOf(call).userId;
  }

  return {
    async listSessions(request, call) {
      if (request.reach !== undefined && !LIST_SCOPES.includes(request.reach))
        throw refuse('INVALID_REQUEST', `Unknown reach \`${request.reach}\`. Use agent or all.`);
      const { page, states: requestedStates, metadata: requestedMetadata, ...filter } = request;
      const states = checkStates(requestedStates);
      const metadata = checkMetadataFilter(requestedMetadata);
      const owner = { callerId: callerOf(call).userId, ownerId: await listedOwner(request, call) };
      const options = owner.ownerId === undefined ? call : databaseOptionsOf(call);
      const { rows, nextCursor } = await lists.sessions(
        { ...filter, ...owner, states, metadata },
        checkPage(page),
        options,
      );
      return { sessions: rows.map(sessionMessage), page: { nextCursor } };
    },

    async getSession({ sessionId }, call) {
      return { session: sessionMessage(await requireReader(sessionId, call)) };
    },

    async listTurns({ sessionId, page, unfinished }, call) {
      const { row, options } = await readAccess(sessionId, call);
      const unfinishedOf = unfinished ? row.owner_id : undefined;
      const { rows, nextCursor } = await lists.turns(sessionId, checkPage(page), unfinishedOf, options);
      return { turns: rows.map(turnMessage), page: { nextCursor } };
    },

    async getTurn({ sessionId, turnId, waitMs }, call) {
      if (waitMs !== undefined && (waitMs < 0 || waitMs > MAX_WAIT_MS))
        throw refuse('INVALID_REQUEST', `wait_ms is ${waitMs}; it must be between 0 and ${MAX_WAIT_MS}.`);
      const { options } = await readAccess(sessionId, call);
      const read = async () => {
        const turn = await lists.turn(sessionId, turnId, options);
        if (!turn) throw turnNotFound(turnId);
        return turn;
      };
      if (waitMs === undefined) return { turn: turnMessage(await read()) };
      const readAnswering = async (): Promise<AnsweringTurn> => {
        const turn = await read();
        const { delivered_to: target } = turn;
        const deliveredTo = target === null ? undefined : await lists.turn(sessionId, target, options);
        return { turn, deliveredTo };
      };
      const isFinal = ({ turn, deliveredTo }: AnsweringTurn) => hasStopped(deliveredTo ?? turn);
      const { turn, deliveredTo } =
        waitMs === 0
          ? await readAnswering()
          : await turnWaits.wait({ sessionId, waitMs, read: readAnswering, isFinal }, call);
      return {
        turn: turnMessage(turn),
        lastMessage: await events.lastMessage(sessionId, deliveredTo ?? turn, options),
        deliveredTo: deliveredTo && turnMessage(deliveredTo),
      };
    },

    async listMessages({ sessionId, page }, call) {
      // The runner reads the history of any session; other callers read the messages of sessions they may read.
      const isRunner = call.peer === 'runner';
      const { options } = isRunner ? { options: call } : await readAccess(sessionId, call);
      const { events: found, nextCursor } = isRunner
        ? await events.modelHistory(sessionId, checkHistoryPage(page), options)
        : await events.history(sessionId, MESSAGES, checkPage(page), options);
      return { events: found, page: { nextCursor } };
    },

    async listEvents({ sessionId, page, afterSeq, types, newestFirst = false }, call) {
      requireKnownTypes(types);
      const { row, options } = await readAccess(sessionId, call);
      const range = { afterSeq, lastSeq: row.last_seq, types, newestFirst };
      const { events: found, nextCursor } = await events.page(sessionId, range, checkPage(page), options);
      return { events: found, page: { nextCursor } };
    },

    async follow(request, call) {
      const { sessionId, afterSeq, fromNow, types, untilCaughtUp } = request;
      const { mergeDeltas: merges = false, passive: isPassive = false } = request;
      requireKnownTypes(types);
      const {
        last_seq: lastSeq,
        owner_id: ownerId,
        agent_id: agentId,
      } = await requireReader(sessionId, call);
      if (afterSeq > lastSeq) {
        throw refuse(
          'INVALID_CURSOR',
          `after_seq is ${afterSeq}, but the newest event of the session is ${lastSeq}.`,
        );
      }
      const start = fromNow ? lastSeq : afterSeq;
      const follow = (signal: AbortSignal) =>
        followers.follow(sessionId, start, { types, isPassive }, signal);
      const isOwn = ownerId === callerOf(call).userId || isAdministrator(call);
      const chunks = isOwn
        ? follow(call.signal)
        : followWhileManager({ agents, clock }, agentId, call, follow);
      const merged = merges ? withMergedDeltas(chunks) : chunks;
      return untilCaughtUp ? untilLive(merged) : merged;
    },

    async listDeploymentSessions({ deploymentId, beforeInvocationId, limit }, call) {
      checkDeploymentSessionsLimit(limit);
      const before = beforeInvocationId ? withPrefix('ses', beforeInvocationId) : AFTER_ALL_INVOCATIONS;
      const rows = await lists.ofDeployment(deploymentId, before, limit, call);
      return {
        sessions: rows.map((row) => ({
          invocationId: invocationOf(row.session_id),
          sessionId: row.session_id,
          createdAt: row.created_at,
          bodyBytes: row.body_bytes,
          sourceAddress: row.source_address,
          requestId: row.request_id ?? '',
        })),
      };
    },
  };
}

/** A turn, and the turn that its message was delivered into. */
interface AnsweringTurn {
  turn: ListedTurn;
  deliveredTo: ListedTurn | undefined;
}

/** Whether the turn has ended or waits for a person or a client. */
function hasStopped({ turn_status: status }: ListedTurn): boolean {
  return status !== 'queued' && status !== 'in_progress';
}

async function* withMergedDeltas(chunks: AsyncIterable<FollowChunk>): AsyncGenerator<FollowChunk> {
  for await (const chunk of chunks) yield { ...chunk, events: mergeDeltas(chunk.events) };
}

async function* untilLive(chunks: AsyncIterable<FollowChunk>): AsyncGenerator<FollowChunk> {
  for await (const chunk of chunks) {
    yield chunk;
    if (chunk.caughtUp) return;
  }
}

/** Returns the states without repetitions, in a fixed order. Refuses an unknown state. */
function checkStates(requested: readonly string[]): DerivedState[] {
  const unknown = requested.find((state) => !DERIVED_STATES.some((known) => known === state));
  if (unknown !== undefined) throw refuseField('/state', `must be one of ${DERIVED_STATES.join(', ')}`);
  return DERIVED_STATES.filter((state) => requested.includes(state));
}

function requireKnownTypes(types: string[]): void {
  const unknown = types.find((type) => !isEventType(type));
  if (unknown !== undefined) throw refuse('INVALID_REQUEST', `Unknown event type \`${unknown}\`.`);
}
