import { type InfiniteData, type QueryClient, queryOptions } from '@tanstack/react-query';
import {
  type CreatedChannel,
  type CreatedWebhook,
  createDeployment,
  type Deployment,
  type DeploymentPatch,
  deleteDeployment,
  disableDeployment,
  enableDeployment,
  getDeployment,
  listAgentDeployments,
  listDeployments,
  type NewChannel,
  type NewSchedule,
  updateDeployment,
} from '../gen/index.ts';
import { isNotFound, unwrapData, unwrapPage } from './client.ts';
import { isLongList, type ListPage, pagedQuery } from './pages.ts';

interface DeploymentFilters {
  /** Substring of the name, the agent's name, the type or the id. */
  q?: string | undefined;
  type?: Deployment['type'] | undefined;
  status?: Deployment['status'] | undefined;
}

/** Other users can enable, disable and delete a deployment, so it is refetched. */
const REFETCH_MS = 60_000;
/** The connection of a channel changes by itself. */
const CHANNEL_REFETCH_MS = 15_000;
const CONNECTING_REFETCH_MS = 3_000;

function refetchMs(deployment: Deployment | undefined): number {
  if (deployment?.type !== 'channel' || deployment.status !== 'enabled') return REFETCH_MS;
  return deployment.connection.state === 'connecting' ? CONNECTING_REFETCH_MS : CHANNEL_REFETCH_MS;
}

type Pages = InfiniteData<ListPage<Deployment>>;

/** The ids of a deployment. */
export type DeploymentRef = Pick<Deployment, 'agent_id' | 'deployment_id'>;

export const pathOf = ({ agent_id, deployment_id }: DeploymentRef) => ({ path: { agent_id, deployment_id } });

/** Queries and mutations of deployments. Query keys begin with `deployments`. */
export const deployments = {
  list: (filters: DeploymentFilters = {}) =>
    pagedQuery(['deployments', 'list', filters], (cursor, signal) =>
      unwrapPage(listDeployments({ query: { ...filters, cursor }, signal })),
    ),
  ofAgent: (agentId: string) =>
    pagedQuery(['deployments', 'list', { agentId }], (cursor, signal) =>
      unwrapPage(listAgentDeployments({ path: { agent_id: agentId }, query: { cursor }, signal })),
    ),
  detail: (agentId: string, deploymentId: string) =>
    queryOptions({
      queryKey: ['deployments', deploymentId],
      queryFn: ({ signal }) =>
        unwrapData(getDeployment({ ...pathOf({ agent_id: agentId, deployment_id: deploymentId }), signal })),
      refetchInterval: ({ state }) => !isNotFound(state.error) && refetchMs(state.data),
    }),
  /**
   * The response contains the shared secret. Never put it into the query cache. The secret is null when an earlier attempt
   * with the same key created the webhook.
   */
  async createWebhook(agentId: string, promptPrefix: string | null, key: string): Promise<CreatedWebhook> {
    const created = await unwrapData(
      createDeployment({
        path: { agent_id: agentId },
        body: { type: 'webhook', prompt_prefix: promptPrefix },
        headers: { 'Idempotency-Key': key },
      }),
    );
    if (created.type !== 'webhook') throw new Error('The service has created a deployment of another type.');
    return created;
  },
  createSchedule: (agentId: string, body: Omit<NewSchedule, 'type'>, key: string) =>
    unwrapData(
      createDeployment({
        path: { agent_id: agentId },
        body: { type: 'schedule', ...body },
        headers: { 'Idempotency-Key': key },
      }),
    ),
  /** As for webhooks, the response can contain the shared secret. */
  async createChannel(agentId: string, body: Omit<NewChannel, 'type'>, key: string): Promise<CreatedChannel> {
    const created = await unwrapData(
      createDeployment({
        path: { agent_id: agentId },
        body: { type: 'channel', ...body },
        headers: { 'Idempotency-Key': key },
      }),
    );
    if (created.type !== 'channel') throw new Error('The service has created a deployment of another type.');
    return created;
  },
  update: (schedule: DeploymentRef, revision: number, body: DeploymentPatch) =>
    unwrapData(updateDeployment({ ...pathOf(schedule), body, headers: { 'If-Match': `"${revision}"` } })),
  enable: (deployment: DeploymentRef) => unwrapData(enableDeployment(pathOf(deployment))),
  disable: (deployment: DeploymentRef) => unwrapData(disableDeployment(pathOf(deployment))),
  remove: (deployment: DeploymentRef) => unwrapData(deleteDeployment(pathOf(deployment))),
};

/** Writes a changed deployment into every cached query that contains it. */
export function cacheDeployment(queries: QueryClient, deployment: Deployment): Promise<void> {
  queries.setQueryData(
    deployments.detail(deployment.agent_id, deployment.deployment_id).queryKey,
    deployment,
  );
  updateCachedLists(queries, (items) =>
    items.map((item) => (item.deployment_id === deployment.deployment_id ? deployment : item)),
  );
  return invalidateShortLists(queries);
}

export function dropCachedDeployment(
  queries: QueryClient,
  { deployment_id: id }: DeploymentRef,
): Promise<void> {
  updateCachedLists(queries, (items) => items.filter((item) => item.deployment_id !== id));
  return invalidateShortLists(queries);
}

/** Refetches the lists that are not long (`isLongList`). */
function invalidateShortLists(queries: QueryClient): Promise<void> {
  return queries.invalidateQueries({
    queryKey: ['deployments', 'list'],
    predicate: ({ state }) => !isLongList(state.data as Pages | undefined),
  });
}

function updateCachedLists(queries: QueryClient, change: (items: Deployment[]) => Deployment[]): void {
  queries.setQueriesData<Pages>({ queryKey: ['deployments', 'list'] }, (cached) =>
    cached
      ? { ...cached, pages: cached.pages.map((page) => ({ ...page, items: change(page.items) })) }
      : cached,
  );
}
