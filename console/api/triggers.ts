import { type InfiniteData, type QueryClient, queryOptions } from '@tanstack/react-query';
import {
  createDeployment,
  type Deployment,
  deleteDeployment,
  disableDeployment,
  enableDeployment,
  getDeployment,
  listAgentDeployments,
  listDeployments,
} from '../gen/index.ts';
import { isNotFound, unwrapData, unwrapPage } from './client.ts';
import { isLongList, type ListPage, pagedQuery } from './pages.ts';

interface TriggerFilters {
  /** Substring of the agent's name, the type or the id. */
  q?: string | undefined;
  status?: Deployment['status'] | undefined;
}

/** Other users can enable, disable and delete a trigger, so it is refetched. */
const REFETCH_MS = 60_000;

type Pages = InfiniteData<ListPage<Deployment>>;

type TriggerRef = Pick<Deployment, 'agent_id' | 'deployment_id'>;

const pathOf = ({ agent_id, deployment_id }: TriggerRef) => ({ path: { agent_id, deployment_id } });

/** Queries and mutations of triggers. Query keys begin with `triggers`. */
export const triggers = {
  list: (filters: TriggerFilters = {}) =>
    pagedQuery(['triggers', 'list', filters], (cursor, signal) =>
      unwrapPage(listDeployments({ query: { ...filters, cursor }, signal })),
    ),
  ofAgent: (agentId: string) =>
    pagedQuery(['triggers', 'list', { agentId }], (cursor, signal) =>
      unwrapPage(listAgentDeployments({ path: { agent_id: agentId }, query: { cursor }, signal })),
    ),
  detail: (agentId: string, deploymentId: string) =>
    queryOptions({
      queryKey: ['triggers', deploymentId],
      queryFn: ({ signal }) =>
        unwrapData(getDeployment({ ...pathOf({ agent_id: agentId, deployment_id: deploymentId }), signal })),
      refetchInterval: ({ state }) => !isNotFound(state.error) && REFETCH_MS,
    }),
  /**
   * The response contains the shared secret. Never put it into the query cache. The secret is null when an earlier attempt
   * with the same key created the trigger.
   */
  create: (agentId: string, promptPrefix: string | null, key: string) =>
    unwrapData(
      createDeployment({
        path: { agent_id: agentId },
        body: { type: 'webhook', prompt_prefix: promptPrefix },
        headers: { 'Idempotency-Key': key },
      }),
    ),
  enable: (trigger: TriggerRef) => unwrapData(enableDeployment(pathOf(trigger))),
  disable: (trigger: TriggerRef) => unwrapData(disableDeployment(pathOf(trigger))),
  remove: (trigger: TriggerRef) => unwrapData(deleteDeployment(pathOf(trigger))),
};

/** Writes a changed trigger into every cached query that contains it. */
export function cacheTrigger(queries: QueryClient, trigger: Deployment): Promise<void> {
  queries.setQueryData(triggers.detail(trigger.agent_id, trigger.deployment_id).queryKey, trigger);
  updateCachedLists(queries, (items) =>
    items.map((item) => (item.deployment_id === trigger.deployment_id ? trigger : item)),
  );
  return invalidateShortLists(queries);
}

export function dropCachedTrigger(queries: QueryClient, { deployment_id: id }: TriggerRef): Promise<void> {
  updateCachedLists(queries, (items) => items.filter((item) => item.deployment_id !== id));
  return invalidateShortLists(queries);
}

/** Refetches the lists that are not long (`isLongList`). */
function invalidateShortLists(queries: QueryClient): Promise<void> {
  return queries.invalidateQueries({
    queryKey: ['triggers', 'list'],
    predicate: ({ state }) => !isLongList(state.data as Pages | undefined),
  });
}

function updateCachedLists(queries: QueryClient, change: (items: Deployment[]) => Deployment[]): void {
  queries.setQueriesData<Pages>({ queryKey: ['triggers', 'list'] }, (cached) =>
    cached
      ? { ...cached, pages: cached.pages.map((page) => ({ ...page, items: change(page.items) })) }
      : cached,
  );
}
