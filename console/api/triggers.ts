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
import { ask, askPage, isMissing } from './client.ts';
import { isLong, type ListPage, pagesOf } from './pages.ts';

interface TriggerFilters {
  /** A part of the agent's name, of the type or of the id. */
  q?: string | undefined;
  status?: Deployment['status'] | undefined;
}

/** Others may enable, disable and delete it as well. */
const WATCH_MS = 15_000;

type Pages = InfiniteData<ListPage<Deployment>>;

type Address = Pick<Deployment, 'agent_id' | 'deployment_id'>;

const at = ({ agent_id, deployment_id }: Address) => ({ path: { agent_id, deployment_id } });

/** What can be seen of triggers, and done with them. Keys begin with `triggers`. */
export const triggers = {
  list: (filters: TriggerFilters = {}) =>
    pagesOf(['triggers', 'list', filters], (cursor, signal) =>
      askPage(listDeployments({ query: { ...filters, cursor }, signal })),
    ),
  ofAgent: (agentId: string) =>
    pagesOf(['triggers', 'list', { agentId }], (cursor, signal) =>
      askPage(listAgentDeployments({ path: { agent_id: agentId }, query: { cursor }, signal })),
    ),
  one: (agentId: string, deploymentId: string) =>
    queryOptions({
      queryKey: ['triggers', deploymentId],
      queryFn: ({ signal }) =>
        ask(getDeployment({ ...at({ agent_id: agentId, deployment_id: deploymentId }), signal })),
      refetchInterval: ({ state }) => !isMissing(state.error) && WATCH_MS,
    }),
  /**
   * The answer holds the shared secret: it goes to who shows it, and into no cache. It is null when an attempt before this
   * one has created the trigger.
   */
  create: (agentId: string, promptPrefix: string | null, key: string) =>
    ask(
      createDeployment({
        path: { agent_id: agentId },
        body: { type: 'webhook', prompt_prefix: promptPrefix },
        headers: { 'Idempotency-Key': key },
      }),
    ),
  enable: (trigger: Address) => ask(enableDeployment(at(trigger))),
  disable: (trigger: Address) => ask(disableDeployment(at(trigger))),
  remove: (trigger: Address) => ask(deleteDeployment(at(trigger))),
};

/** Shows what has become of a trigger wherever it is shown. */
export function keepTrigger(queries: QueryClient, trigger: Deployment): Promise<void> {
  queries.setQueryData(triggers.one(trigger.agent_id, trigger.deployment_id).queryKey, trigger);
  changeLists(queries, (items) =>
    items.map((item) => (item.deployment_id === trigger.deployment_id ? trigger : item)),
  );
  return refreshTriggers(queries);
}

export function forgetTrigger(queries: QueryClient, { deployment_id: id }: Address): Promise<void> {
  changeLists(queries, (items) => items.filter((item) => item.deployment_id !== id));
  return refreshTriggers(queries);
}

/** Reads the lists again that are short enough for it. */
function refreshTriggers(queries: QueryClient): Promise<void> {
  return queries.invalidateQueries({
    queryKey: ['triggers', 'list'],
    predicate: ({ state }) => !isLong(state.data as Pages | undefined),
  });
}

function changeLists(queries: QueryClient, change: (items: Deployment[]) => Deployment[]): void {
  queries.setQueriesData<Pages>({ queryKey: ['triggers', 'list'] }, (known) =>
    known ? { ...known, pages: known.pages.map((page) => ({ ...page, items: change(page.items) })) } : known,
  );
}
