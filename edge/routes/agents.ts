import { list, ok } from '../envelope.ts';
import { idempotencyKey, ifMatch } from '../input/headers.ts';
import { route } from '../route.ts';
import {
  AgentCreation,
  AgentPatch,
  AgentShape,
  AgentVersionShape,
  serializeAgent,
  serializeAgentVersion,
} from '../schemas/agents.ts';
import { closed, deleted, id, pageRequest, paging, search } from '../schemas/common.ts';
import { metadataAndTimeFilters, metadataAndTimes } from '../schemas/list-filters.ts';
import { created, patched } from '../schemas/runtime.ts';
import { etag } from './etag.ts';
import { replayed } from './replayed.ts';

const EXAMPLE = { name: 'Echo', model: 'rehearsal/echo', system: 'Say what you hear.' };

export const agentRoutes = [
  route({
    method: 'POST',
    path: '/agents',
    operationId: 'createAgent',
    tag: 'Agents',
    summary: 'Create an agent',
    description: 'The caller is its creator and can manage it. Omitted members get their defaults.',
    headers: ['Idempotency-Key'],
    body: AgentCreation,
    example: EXAMPLE,
    success: { status: 201, description: 'The new agent.', data: AgentShape, headers: ['ETag'] },
    errors: [],
    async answer({ clients, call, body, request }) {
      const { agent, replayed: isReplay } = await clients.agents.createAgent(
        {
          ...created(body),
          visibility: body.visibility ?? 'private',
          exposure: body.exposure,
          idempotencyKey: idempotencyKey(request.raw),
        },
        call,
      );
      return ok(serializeAgent(agent), { ...etag(agent?.revision), ...replayed(isReplay) });
    },
  }),

  route({
    method: 'GET',
    path: '/agents',
    operationId: 'listAgents',
    tag: 'Agents',
    summary: 'List agents',
    description: 'Returns the agents that you can use or manage, newest first.',
    query: closed({
      ...paging,
      q: search('Matches a part of the name or description, or an id.'),
      ...metadataAndTimeFilters,
    }),
    success: { status: 200, description: 'A page of agents.', data: AgentShape, list: true },
    errors: ['INVALID_CURSOR'],
    async answer({ clients, call, query }) {
      const { agents, page } = await clients.agents.listAgents(
        { page: pageRequest(query), q: query.q ?? '', ...metadataAndTimes(query) },
        call,
      );
      return list(agents.map(serializeAgent), page);
    },
  }),

  route({
    method: 'GET',
    path: '/agents/{agent_id}',
    operationId: 'getAgent',
    tag: 'Agents',
    summary: 'Get an agent',
    description: 'The ETag is the `revision` of the agent, for `If-Match`.',
    headers: ['If-Match'],
    success: { status: 200, description: 'The agent.', data: AgentShape, headers: ['ETag'] },
    errors: ['AGENT_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const { agent } = await clients.agents.getAgent({ agentId: param('agent_id') }, call);
      return ok(serializeAgent(agent), etag(agent?.revision));
    },
  }),

  route({
    method: 'PATCH',
    path: '/agents/{agent_id}',
    operationId: 'updateAgent',
    tag: 'Agents',
    summary: 'Update an agent',
    description:
      'Omitted members stay unchanged; null clears a member. A change of the configuration of turns creates a new version. ' +
      'Sessions keep the version they started with. With `If-Match`, the request fails if the agent has changed since.',
    headers: ['If-Match'],
    body: AgentPatch,
    example: { system: 'Say it twice.' },
    success: { status: 200, description: 'The updated agent.', data: AgentShape, headers: ['ETag'] },
    errors: ['AGENT_NOT_FOUND'],
    async answer({ clients, call, param, body, request }) {
      const { agent } = await clients.agents.updateAgent(
        {
          agentId: param('agent_id'),
          ifRevisions: ifMatch(request.raw),
          ...patched(body),
          visibility: body.visibility,
          exposure: body.exposure,
        },
        call,
      );
      return ok(serializeAgent(agent), etag(agent?.revision));
    },
  }),

  route({
    method: 'DELETE',
    path: '/agents/{agent_id}',
    operationId: 'deleteAgent',
    tag: 'Agents',
    summary: 'Delete an agent',
    description:
      'A deleted agent starts no new sessions or turns. Its sessions remain readable. With `If-Match`, the request fails if the ' +
      'agent has changed since.',
    headers: ['If-Match'],
    success: {
      status: 200,
      description: 'The agent was deleted.',
      data: deleted('agent', id('agt', 'the agent')),
    },
    errors: ['AGENT_NOT_FOUND'],
    async answer({ clients, call, param, request }) {
      const agentId = param('agent_id');
      await clients.agents.deleteAgent({ agentId, ifRevisions: ifMatch(request.raw) }, call);
      return ok({ agent_id: agentId, deleted: true });
    },
  }),

  route({
    method: 'GET',
    path: '/agents/{agent_id}/versions',
    operationId: 'listAgentVersions',
    tag: 'Agents',
    summary: 'List the versions of an agent',
    description: 'Returns the versions of the agent, newest first.',
    query: closed(paging),
    success: { status: 200, description: 'A page of versions.', data: AgentVersionShape, list: true },
    errors: ['AGENT_NOT_FOUND', 'INVALID_CURSOR'],
    async answer({ clients, call, param, query }) {
      const request = { agentId: param('agent_id'), page: pageRequest(query) };
      const { versions, page } = await clients.agents.listAgentVersions(request, call);
      return list(versions.map(serializeAgentVersion), page);
    },
  }),
];
