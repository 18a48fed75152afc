import { queryOptions } from '@tanstack/react-query';
import {
  type CreateAgentData,
  createAgent,
  createConversation,
  deleteAgent,
  getAgent,
  getAgentAccess,
  listAgents,
  listAgentVersions,
  type SetAgentAccessData,
  setAgentAccess,
  type UpdateAgentData,
  updateAgent,
} from '../gen/index.ts';
import { unwrapData, unwrapPage } from './client.ts';
import { pagedQuery } from './pages.ts';

const pathOf = (agentId: string) => ({ path: { agent_id: agentId } });

/** Queries and mutations of agents. Query keys begin with `agents`. */
export const agents = {
  list: (q?: string) =>
    pagedQuery(['agents', 'list', q], (cursor, signal) =>
      unwrapPage(listAgents({ query: { q, cursor }, signal })),
    ),
  detail: (agentId: string) =>
    queryOptions({
      queryKey: ['agents', agentId],
      queryFn: ({ signal }) => unwrapData(getAgent({ ...pathOf(agentId), signal })),
    }),
  versions: (agentId: string) =>
    pagedQuery(['agents', agentId, 'versions'], (cursor, signal) =>
      unwrapPage(listAgentVersions({ ...pathOf(agentId), query: { cursor }, signal })),
    ),
  access: (agentId: string) =>
    queryOptions({
      queryKey: ['agents', agentId, 'access'],
      queryFn: ({ signal }) => unwrapData(getAgentAccess({ ...pathOf(agentId), signal })),
    }),
  create: (body: CreateAgentData['body'], key: string) =>
    unwrapData(createAgent({ body, headers: { 'Idempotency-Key': key } })),
  /** Fails with VERSION_CONFLICT when the agent's current revision is not `revision`. */
  update: (agentId: string, revision: number, body: UpdateAgentData['body']) =>
    unwrapData(updateAgent({ ...pathOf(agentId), body, headers: { 'If-Match': `"${revision}"` } })),
  /** Fails with VERSION_CONFLICT when the current revision of the access settings is not `revision`. */
  setAccess: (agentId: string, revision: number, body: SetAgentAccessData['body']) =>
    unwrapData(setAgentAccess({ ...pathOf(agentId), body, headers: { 'If-Match': `"${revision}"` } })),
  remove: (agentId: string) => unwrapData(deleteAgent(pathOf(agentId))),
  startConversation: (agentId: string, message: string | undefined, key: string) =>
    unwrapData(
      createConversation({ ...pathOf(agentId), body: { message }, headers: { 'Idempotency-Key': key } }),
    ),
};
