import { Type } from 'typebox';
import { refuseField } from '../../lib/errors.ts';
import { list, ok } from '../envelope.ts';
import { type Exchange, route } from '../route.ts';
import {
  closed,
  deleted,
  flag,
  id,
  Metadata,
  nullable,
  optional,
  pageRequest,
  paging,
  search,
} from '../schemas/common.ts';
import { SESSION_STATUSES, SessionShape, sessionTitle, shownSession } from '../schemas/sessions.ts';

const identifier = (prefix: string, description: string) =>
  optional(Type.String({ maxLength: 100, description: `${prefix}_…: ${description}` }));

/** What the contract can carry. */
const MAX_VERSION = 2 ** 31 - 1;

const filters = {
  deployment_id: identifier('dep', 'sessions that this deployment started.'),
  status: optional(Type.Enum([...SESSION_STATUSES])),
  needs_action: optional(flag('Only those that wait for somebody, or only the others.')),
  q: search('A part of the title or of the id.'),
  archived: optional(flag('Only archived ones. Without it: only those that are not.')),
};

const ofWhom = {
  agent_id: identifier('agt', 'sessions of this agent.'),
  assistant_id: identifier('ast', 'sessions of this assistant. Not together with `agent_id`.'),
};

function agentIn({ agent_id: agentId = '', assistant_id: assistantId = '' }) {
  if (agentId && assistantId) throw refuseField('/assistant_id', 'must not stand beside agent_id');
  return agentId || assistantId;
}

interface Filters {
  limit?: number;
  cursor?: string;
  deployment_id?: string;
  status?: string;
  needs_action?: boolean;
  q?: string;
  archived?: boolean;
}

async function listSessions(
  { clients, call }: Exchange,
  query: Filters,
  agentId: string,
  reach?: 'agent' | 'all',
) {
  const { sessions, page } = await clients.sessions.listSessions(
    {
      page: pageRequest(query),
      agentId,
      deploymentId: query.deployment_id ?? '',
      status: query.status ?? '',
      needsAction: query.needs_action,
      q: query.q ?? '',
      archived: query.archived,
      reach,
    },
    call,
  );
  return list(sessions.map(shownSession), page);
}

export const sessionRoutes = [
  route({
    method: 'GET',
    path: '/agents/{agent_id}/sessions',
    operationId: 'listAgentSessions',
    tag: 'Sessions',
    summary: 'List the sessions of an agent',
    description: 'Newest first. Who manages the agent sees those of everybody; others see their own.',
    query: closed({ ...paging, ...filters }),
    success: { status: 200, description: 'A page of sessions.', data: SessionShape, list: true },
    errors: ['AGENT_NOT_FOUND', 'INVALID_CURSOR'],
    async answer(exchange) {
      const agentId = exchange.param('agent_id');
      await exchange.clients.agents.getAgent({ agentId }, exchange.call);
      return listSessions(exchange, exchange.query, agentId, 'agent');
    },
  }),

  route({
    method: 'GET',
    path: '/sessions',
    operationId: 'listSessions',
    tag: 'Sessions',
    summary: 'List your sessions',
    description: 'Newest first.',
    query: closed({ ...paging, ...ofWhom, ...filters }),
    success: { status: 200, description: 'A page of sessions.', data: SessionShape, list: true },
    errors: ['INVALID_CURSOR'],
    async answer(exchange) {
      return listSessions(exchange, exchange.query, agentIn(exchange.query));
    },
  }),

  route({
    method: 'GET',
    path: '/admin/sessions',
    operationId: 'listAllSessions',
    tag: 'Sessions',
    summary: 'List the sessions of everybody',
    description: 'For administrators. Newest first.',
    query: closed({ ...paging, ...ofWhom, ...filters }),
    success: { status: 200, description: 'A page of sessions.', data: SessionShape, list: true },
    errors: ['FORBIDDEN', 'INVALID_CURSOR'],
    async answer(exchange) {
      return listSessions(exchange, exchange.query, agentIn(exchange.query), 'all');
    },
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
    body: closed({ title: optional(nullable(sessionTitle)), metadata: optional(nullable(Metadata)) }),
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
    path: '/sessions/{session_id}/agent-version',
    operationId: 'setAgentVersion',
    tag: 'Sessions',
    summary: 'Move a session to another version of its agent',
    description:
      'Between turns only, and not of an assistant. What was said stays as it is; the next turn works with this version.',
    body: closed({
      version: Type.Integer({
        minimum: 1,
        maximum: MAX_VERSION,
        description: 'A version that the agent has.',
      }),
    }),
    example: { version: 1 },
    success: { status: 200, description: 'The session as it is now.', data: SessionShape },
    errors: [
      'SESSION_NOT_FOUND',
      'AGENT_NOT_FOUND',
      'AGENT_VERSION_NOT_FOUND',
      'SESSION_BUSY',
      'SESSION_ARCHIVED',
      'SESSION_TERMINATED',
    ],
    async answer({ clients, call, param, body }) {
      const asked = { sessionId: param('session_id'), version: body.version };
      const { session } = await clients.sessions.setAgentVersion(asked, call);
      return ok(shownSession(session));
    },
  }),
];
