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
import { ask, askPage } from './client.ts';
import { pagesOf } from './pages.ts';

const at = (agentId: string) => ({ path: { agent_id: agentId } });

/** What can be seen of agents, and done with them. Keys begin with `agents`. */
export const agents = {
  list: (q?: string) =>
    pagesOf(['agents', 'list', q], (cursor, signal) => askPage(listAgents({ query: { q, cursor }, signal }))),
  one: (agentId: string) =>
    queryOptions({
      queryKey: ['agents', agentId],
      queryFn: ({ signal }) => ask(getAgent({ ...at(agentId), signal })),
    }),
  versions: (agentId: string) =>
    pagesOf(['agents', agentId, 'versions'], (cursor, signal) =>
      askPage(listAgentVersions({ ...at(agentId), query: { cursor }, signal })),
    ),
  access: (agentId: string) =>
    queryOptions({
      queryKey: ['agents', agentId, 'access'],
      queryFn: ({ signal }) => ask(getAgentAccess({ ...at(agentId), signal })),
    }),
  create: (body: CreateAgentData['body'], key: string) =>
    ask(createAgent({ body, headers: { 'Idempotency-Key': key } })),
  /** Refused with VERSION_CONFLICT when it is of another version by now. */
  update: (agentId: string, version: number, body: UpdateAgentData['body']) =>
    ask(updateAgent({ ...at(agentId), body, headers: { 'If-Match': `"${version}"` } })),
  /** Refused with VERSION_CONFLICT when the access is of another version by now. */
  share: (agentId: string, version: number, body: SetAgentAccessData['body']) =>
    ask(setAgentAccess({ ...at(agentId), body, headers: { 'If-Match': `"${version}"` } })),
  remove: (agentId: string) => ask(deleteAgent(at(agentId))),
  converse: (agentId: string, message: string | undefined, key: string) =>
    ask(createConversation({ ...at(agentId), body: { message }, headers: { 'Idempotency-Key': key } })),
};
