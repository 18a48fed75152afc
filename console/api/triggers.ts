import { queryOptions } from '@tanstack/react-query';
import { getDeployment, listDeployments } from '../gen/index.ts';
import { ask, askPage, pagesOf } from './client.ts';

export interface TriggerFilters {
  /** Agent name, type or id. */
  q?: string | undefined;
  status?: 'enabled' | 'disabled' | undefined;
}

/** What can be seen of triggers. Keys begin with `triggers`. */
export const triggers = {
  list: (filters: TriggerFilters = {}) =>
    pagesOf(['triggers', 'list', filters], (cursor, signal) =>
      askPage(listDeployments({ query: { ...filters, cursor }, signal })),
    ),
  one: (agentId: string, deploymentId: string) =>
    queryOptions({
      queryKey: ['triggers', deploymentId],
      queryFn: ({ signal }) =>
        ask(getDeployment({ path: { agent_id: agentId, deployment_id: deploymentId }, signal })),
    }),
};
