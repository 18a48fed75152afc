import { Type } from 'typebox';
import { refuseField } from '../../lib/errors.ts';
import { list, ok } from '../envelope.ts';
import { ifMatch } from '../input/headers.ts';
import { type Exchange, route } from '../route.ts';
import {
  closed,
  deleted,
  flag,
  id,
  Metadata,
  metadataPatch,
  nullable,
  optional,
  pageRequest,
  paging,
  search,
} from '../schemas/common.ts';
import { metadataAndTimeFilters, metadataAndTimes } from '../schemas/list-filters.ts';
import {
  SESSION_STATES,
  SESSION_STATUSES,
  SessionShape,
  serializeSession,
  sessionTitle,
} from '../schemas/sessions.ts';
import { etag } from './etag.ts';

const identifier = (prefix: string, description: string) =>
  optional(Type.String({ maxLength: 100, description: `${prefix}_…: ${description}` }));

/** The maximum of the contract's int32. */
const MAX_VERSION = 2 ** 31 - 1;

const filters = {
  deployment_id: identifier('dep', 'only sessions of this deployment.'),
  status: optional(Type.Enum([...SESSION_STATUSES], { description: 'Only sessions with this status.' })),
  state: optional(
    Type.Array(Type.Enum([...SESSION_STATES]), {
      description: 'Only sessions in this state. Can be repeated.',
      maxItems: SESSION_STATES.length,
    }),
  ),
  needs_action: optional(flag('Only sessions that wait for an approval (true), or only the others (false).')),
  q: search('Matches a part of the title or of the id.'),
  archived: optional(flag('Only archived sessions. Default: only sessions that are not archived.')),
  ...metadataAndTimeFilters,
};

const ownerFilters = {
  agent_id: identifier('agt', 'only sessions of this agent.'),
  assistant_id: identifier('ast', 'only sessions of this assistant. Cannot be combined with `agent_id`.'),
};

function agentOrAssistant({ agent_id: agentId = '', assistant_id: assistantId = '' }) {
  if (agentId && assistantId) throw refuseField('/assistant_id', 'cannot be combined with agent_id');
  return agentId || assistantId;
}

interface Filters {
  limit?: number;
  cursor?: string;
  deployment_id?: string;
  status?: string;
  state?: string[];
  needs_action?: boolean;
  q?: string;
  archived?: boolean;
  metadata?: Record<string, string>;
  created_after?: string;
  created_before?: string;
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
      states: query.state ?? [],
      needsAction: query.needs_action,
      q: query.q ?? '',
      archived: query.archived,
      ...metadataAndTimes(query),
      reach,
    },
    call,
  );
  return list(sessions.map(serializeSession), page);
}

export const sessionRoutes = [
  route({
    method: 'GET',
    path: '/agents/{agent_id}/sessions',
    operationId: 'listAgentSessions',
    tag: 'Sessions',
    summary: 'List the sessions of an agent',
    description:
      'Newest first. Callers with manage access see the sessions of all users; other callers see their own.',
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
    description: 'Returns your sessions, newest first.',
    query: closed({ ...paging, ...ownerFilters, ...filters }),
    success: { status: 200, description: 'A page of sessions.', data: SessionShape, list: true },
    errors: ['INVALID_CURSOR'],
    async answer(exchange) {
      return listSessions(exchange, exchange.query, agentOrAssistant(exchange.query));
    },
  }),

  route({
    method: 'GET',
    path: '/admin/sessions',
    operationId: 'listAllSessions',
    tag: 'Sessions',
    summary: 'List the sessions of all users',
    description: 'Requires an administrator. Newest first.',
    query: closed({ ...paging, ...ownerFilters, ...filters }),
    success: { status: 200, description: 'A page of sessions.', data: SessionShape, list: true },
    errors: ['FORBIDDEN', 'INVALID_CURSOR'],
    async answer(exchange) {
      return listSessions(exchange, exchange.query, agentOrAssistant(exchange.query), 'all');
    },
  }),

  route({
    method: 'GET',
    path: '/sessions/{session_id}',
    operationId: 'getSession',
    tag: 'Sessions',
    summary: 'Get a session',
    description:
      'Returns the current state. To follow changes, stream the events of the session. The ETag is the `revision` of the ' +
      'session, for `If-Match`: each event changes it, also those of a running turn.',
    headers: ['If-Match'],
    success: { status: 200, description: 'The session.', data: SessionShape, headers: ['ETag'] },
    errors: ['SESSION_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const { session } = await clients.sessions.getSession({ sessionId: param('session_id') }, call);
      return ok(serializeSession(session), etag(session?.lastSeq));
    },
  }),

  route({
    method: 'PATCH',
    path: '/sessions/{session_id}',
    operationId: 'updateSession',
    tag: 'Sessions',
    summary: 'Update the title or metadata of a session',
    description:
      'Omitted members stay unchanged; null clears a member. With `If-Match`, the request fails if the session has changed since.',
    headers: ['If-Match'],
    body: closed({ title: optional(nullable(sessionTitle)), metadata: optional(nullable(Metadata)) }),
    example: { title: 'A better name' },
    success: { status: 200, description: 'The updated session.', data: SessionShape, headers: ['ETag'] },
    errors: ['SESSION_NOT_FOUND', 'SESSION_ARCHIVED', 'SESSION_TERMINATED'],
    async answer({ clients, call, param, body, request }) {
      const { session } = await clients.sessions.updateSession(
        {
          sessionId: param('session_id'),
          ifRevisions: ifMatch(request.raw),
          title: body.title === null ? '' : body.title,
          metadata: metadataPatch(body.metadata),
        },
        call,
      );
      return ok(serializeSession(session), etag(session?.lastSeq));
    },
  }),

  route({
    method: 'DELETE',
    path: '/sessions/{session_id}',
    operationId: 'deleteSession',
    tag: 'Sessions',
    summary: 'Delete a session',
    description:
      'Ends the turns of the session. `session.deleted` is its last event. The content is erased later. With ' +
      '`If-Match`, the request fails if the session has changed since.',
    headers: ['If-Match'],
    success: {
      status: 200,
      description: 'The session was deleted.',
      data: deleted('session', id('ses', 'the session')),
    },
    errors: ['SESSION_NOT_FOUND'],
    async answer({ clients, call, param, request }) {
      const sessionId = param('session_id');
      await clients.sessions.deleteSession({ sessionId, ifRevisions: ifMatch(request.raw) }, call);
      return ok({ session_id: sessionId, deleted: true });
    },
  }),

  route({
    method: 'POST',
    path: '/sessions/{session_id}/archive',
    operationId: 'archiveSession',
    tag: 'Sessions',
    summary: 'Archive a session',
    description: 'An archived session is read-only. A running turn continues to its end.',
    success: { status: 200, description: 'The updated session.', data: SessionShape },
    errors: ['SESSION_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const { session } = await clients.sessions.archiveSession({ sessionId: param('session_id') }, call);
      return ok(serializeSession(session));
    },
  }),

  route({
    method: 'POST',
    path: '/sessions/{session_id}/agent-version',
    operationId: 'setAgentVersion',
    tag: 'Sessions',
    summary: 'Move a session to another version of its agent',
    description:
      'Possible only between turns, and not for sessions of an assistant. The history is unchanged; the next turn uses this ' +
      'version.',
    body: closed({
      version: Type.Integer({
        minimum: 1,
        maximum: MAX_VERSION,
        description: 'An existing version of the agent.',
      }),
    }),
    example: { version: 1 },
    success: { status: 200, description: 'The updated session.', data: SessionShape },
    errors: [
      'SESSION_NOT_FOUND',
      'AGENT_NOT_FOUND',
      'AGENT_VERSION_NOT_FOUND',
      'SESSION_BUSY',
      'SESSION_ARCHIVED',
      'SESSION_TERMINATED',
    ],
    async answer({ clients, call, param, body }) {
      const request = { sessionId: param('session_id'), version: body.version };
      const { session } = await clients.sessions.setAgentVersion(request, call);
      return ok(serializeSession(session));
    },
  }),
];
