import { Type } from 'typebox';
import { list, ok } from '../envelope.ts';
import { idempotencyKey } from '../input/headers.ts';
import { type Exchange, route } from '../route.ts';
import {
  closed,
  count,
  deleted,
  flag,
  id,
  Metadata,
  nullable,
  optional,
  pageRequest,
  paging,
  search,
  text,
} from '../schemas/common.ts';
import { Content, contentJson } from '../schemas/content.ts';
import {
  MessageShape,
  SESSION_STATUSES,
  SessionShape,
  shownMessage,
  shownSession,
  shownTurn,
  TurnShape,
} from '../schemas/sessions.ts';
import { replayed } from './replayed.ts';

const MESSAGE_BYTES = 10 * 1024 * 1024;
const title = text('A name for the session.', { maxLength: 200 });
const identifier = (prefix: string, description: string) =>
  optional(Type.String({ maxLength: 100, description: `${prefix}_…: ${description}` }));

const filters = {
  deployment_id: identifier('dep', 'sessions that this deployment started.'),
  status: optional(Type.Enum([...SESSION_STATUSES])),
  needs_action: optional(flag('Only those that wait for somebody, or only the others.')),
  q: search('A part of the title or of the id.'),
  archived: optional(flag('Only archived ones. Without it: only those that are not.')),
};

interface Filters {
  limit?: number;
  cursor?: string;
  deployment_id?: string;
  status?: string;
  needs_action?: boolean;
  q?: string;
  archived?: boolean;
}

async function listSessions({ clients, call }: Exchange, query: Filters, agentId: string) {
  const { sessions, page } = await clients.sessions.listSessions(
    {
      page: pageRequest(query),
      agentId,
      deploymentId: query.deployment_id ?? '',
      status: query.status ?? '',
      needsAction: query.needs_action,
      q: query.q ?? '',
      archived: query.archived,
    },
    call,
  );
  return list(sessions.map(shownSession), page);
}

export const sessionRoutes = [
  route({
    method: 'POST',
    path: '/agents/{agent_id}/conversations',
    operationId: 'createConversation',
    tag: 'Conversations',
    summary: 'Begin a conversation with an agent',
    description:
      'The only way in which a client makes a session. With a message its first turn is queued in the same commit.',
    headers: ['Idempotency-Key'],
    body: closed({ message: optional(Content), title: optional(title), metadata: optional(Metadata) }),
    bodyLimit: MESSAGE_BYTES,
    bodyOptional: true,
    example: { message: 'Hello!', title: 'Greeting' },
    success: { status: 201, description: 'The new session.', data: SessionShape },
    errors: ['AGENT_NOT_FOUND', 'AGENT_NOT_RUNNABLE'],
    async answer({ clients, call, param, body, request }) {
      const { session, replayed: again } = await clients.sessions.createConversation(
        {
          agentId: param('agent_id'),
          contentJson: body?.message === undefined ? '' : contentJson(body.message),
          title: body?.title ?? '',
          metadata: body?.metadata ?? {},
          idempotencyKey: idempotencyKey(request.raw),
        },
        call,
      );
      return ok(shownSession(session), replayed(again));
    },
  }),

  route({
    method: 'GET',
    path: '/agents/{agent_id}/sessions',
    operationId: 'listAgentSessions',
    tag: 'Sessions',
    summary: 'List the sessions of an agent',
    description: 'Newest first.',
    query: closed({ ...paging, ...filters }),
    success: { status: 200, description: 'A page of sessions.', data: SessionShape, list: true },
    errors: ['AGENT_NOT_FOUND', 'INVALID_CURSOR'],
    async answer(exchange) {
      const agentId = exchange.param('agent_id');
      await exchange.clients.agents.getAgent({ agentId }, exchange.call);
      return listSessions(exchange, exchange.query, agentId);
    },
  }),

  route({
    method: 'GET',
    path: '/sessions',
    operationId: 'listSessions',
    tag: 'Sessions',
    summary: 'List your sessions',
    description: 'Newest first.',
    query: closed({ ...paging, agent_id: identifier('agt', 'sessions of this agent.'), ...filters }),
    success: { status: 200, description: 'A page of sessions.', data: SessionShape, list: true },
    errors: ['INVALID_CURSOR'],
    answer: (exchange) => listSessions(exchange, exchange.query, exchange.query.agent_id ?? ''),
  }),

  route({
    method: 'GET',
    path: '/sessions/{session_id}',
    operationId: 'getSession',
    tag: 'Sessions',
    summary: 'Read a session',
    success: { status: 200, description: 'The session.', data: SessionShape },
    errors: ['SESSION_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const { session } = await clients.sessions.getSession({ sessionId: param('session_id') }, call);
      return ok(shownSession(session));
    },
  }),

  route({
    method: 'PATCH',
    path: '/sessions/{session_id}',
    operationId: 'updateSession',
    tag: 'Sessions',
    summary: 'Rename a session or change its metadata',
    description: 'An absent member stays as it is, null clears it.',
    body: closed({ title: optional(nullable(title)), metadata: optional(nullable(Metadata)) }),
    example: { title: 'A better name' },
    success: { status: 200, description: 'The session as it is now.', data: SessionShape },
    errors: ['SESSION_NOT_FOUND', 'SESSION_ARCHIVED', 'SESSION_TERMINATED'],
    async answer({ clients, call, param, body }) {
      const { session } = await clients.sessions.updateSession(
        {
          sessionId: param('session_id'),
          title: body.title === null ? '' : body.title,
          metadata: body.metadata === undefined ? undefined : { entries: body.metadata ?? {} },
        },
        call,
      );
      return ok(shownSession(session));
    },
  }),

  route({
    method: 'DELETE',
    path: '/sessions/{session_id}',
    operationId: 'deleteSession',
    tag: 'Sessions',
    summary: 'Delete a session',
    description:
      'Its turns end, and followers see `session.deleted` as its last event. Its content is erased a while later.',
    success: { status: 200, description: 'It is gone.', data: deleted('session', id('ses', 'the session')) },
    errors: ['SESSION_NOT_FOUND'],
    async answer({ clients, call, param }) {
      await clients.sessions.deleteSession({ sessionId: param('session_id') }, call);
      return ok({ session_id: param('session_id'), deleted: true });
    },
  }),

  route({
    method: 'POST',
    path: '/sessions/{session_id}/archive',
    operationId: 'archiveSession',
    tag: 'Sessions',
    summary: 'Archive a session',
    description: 'From then on it can only be read. A turn that runs goes on to its end.',
    success: { status: 200, description: 'The session as it is now.', data: SessionShape },
    errors: ['SESSION_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const { session } = await clients.sessions.archiveSession({ sessionId: param('session_id') }, call);
      return ok(shownSession(session));
    },
  }),

  route({
    method: 'POST',
    path: '/sessions/{session_id}/messages',
    operationId: 'sendMessage',
    tag: 'Sessions',
    summary: 'Send a message',
    description:
      'Queues a turn. When the session is busy, `enqueue` waits for what is before it, `reject` refuses, and `interrupt` ends the turn that runs.',
    headers: ['Idempotency-Key'],
    body: closed({
      content: Content,
      busy_policy: optional(Type.Enum(['enqueue', 'reject', 'interrupt'], { default: 'enqueue' })),
    }),
    bodyLimit: MESSAGE_BYTES,
    example: { content: 'And then?' },
    success: {
      status: 202,
      description: 'The turn is queued.',
      data: Type.Object({ turn_id: id('trn', 'the new turn'), seq: count('The seq of its user.message.') }),
    },
    errors: ['SESSION_NOT_FOUND', 'SESSION_BUSY', 'SESSION_ARCHIVED', 'SESSION_TERMINATED'],
    async answer({ clients, call, param, body, request }) {
      const {
        turnId,
        seq,
        replayed: again,
      } = await clients.sessions.sendMessage(
        {
          sessionId: param('session_id'),
          contentJson: contentJson(body.content),
          busyPolicy: body.busy_policy ?? 'enqueue',
          idempotencyKey: idempotencyKey(request.raw),
        },
        call,
      );
      return ok({ turn_id: turnId, seq }, replayed(again));
    },
  }),

  route({
    method: 'GET',
    path: '/sessions/{session_id}/messages',
    operationId: 'listMessages',
    tag: 'Sessions',
    summary: 'List the messages of a session',
    description: 'What was said, oldest first.',
    query: closed(paging),
    success: { status: 200, description: 'A page of messages.', data: MessageShape, list: true },
    errors: ['SESSION_NOT_FOUND', 'INVALID_CURSOR'],
    async answer({ clients, call, param, query }) {
      const asked = { sessionId: param('session_id'), page: pageRequest(query) };
      const { events, page } = await clients.sessions.listMessages(asked, call);
      return list(
        events.map((event) => shownMessage(event.json)),
        page,
      );
    },
  }),

  route({
    method: 'GET',
    path: '/sessions/{session_id}/turns',
    operationId: 'listTurns',
    tag: 'Sessions',
    summary: 'List the turns of a session',
    description: 'Oldest first.',
    query: closed(paging),
    success: { status: 200, description: 'A page of turns.', data: TurnShape, list: true },
    errors: ['SESSION_NOT_FOUND', 'INVALID_CURSOR'],
    async answer({ clients, call, param, query }) {
      const asked = { sessionId: param('session_id'), page: pageRequest(query), unfinished: false };
      const { turns, page } = await clients.sessions.listTurns(asked, call);
      return list(turns.map(shownTurn), page);
    },
  }),

  route({
    method: 'GET',
    path: '/sessions/{session_id}/turns/{turn_id}',
    operationId: 'getTurn',
    tag: 'Sessions',
    summary: 'Read a turn',
    success: { status: 200, description: 'The turn.', data: TurnShape },
    errors: ['SESSION_NOT_FOUND', 'TURN_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const asked = { sessionId: param('session_id'), turnId: param('turn_id') };
      const { turn } = await clients.sessions.getTurn(asked, call);
      return ok(shownTurn(turn));
    },
  }),
];
