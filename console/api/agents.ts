import { queryOptions } from '@tanstack/react-query';
import { getAgent, listAgents } from '../gen/index.ts';
import { ask, askPage, pagesOf } from './client.ts';

/** What can be seen of agents. Keys begin with `agents`. */
export const agents = {
  list: (q?: string) =>
    pagesOf(['agents', 'list', q], (cursor, signal) => askPage(listAgents({ query: { q, cursor }, signal }))),
  one: (agentId: string) =>
    queryOptions({
      queryKey: ['agents', agentId],
      queryFn: ({ signal }) => ask(getAgent({ path: { agent_id: agentId }, signal })),
    }),
};
