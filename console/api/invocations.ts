import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { type Invocation, listInvocations } from '../gen/index.ts';
import { isNotFound, unwrapPage } from './client.ts';
import type { ListPage } from './pages.ts';
import { pollInterval } from './polling.ts';

/** The loaded part of a webhook's invocation log, newest first and without gaps. */
export interface InvocationLog {
  entries: Invocation[];
  /** Cursor of the next older page; undefined when the log is loaded completely. */
  next: string | undefined;
}

/** A user who tests a webhook sends its first request, and the next one, within this time. */
const TEST_MS = 120_000;
const POLLING = { active: 2_000, idle: 20_000, recent: TEST_MS };
const MAX_ENTRIES = 20_000;

const readPage = (agentId: string, deploymentId: string, cursor?: string, signal?: AbortSignal) =>
  unwrapPage(
    listInvocations({ path: { agent_id: agentId, deployment_id: deploymentId }, query: { cursor }, signal }),
  );

/** The log of a webhook. It is refetched for as long as a component uses the query. */
const log = (agentId: string, deploymentId: string) =>
  queryOptions({
    queryKey: ['deployments', deploymentId, 'invocations'],
    queryFn: async ({ client, queryKey, signal }): Promise<InvocationLog> => {
      const newest = await readPage(agentId, deploymentId, undefined, signal);
      return withNewest(client.getQueryData<InvocationLog>(queryKey), newest);
    },
    staleTime: 0,
    refetchInterval: (query) =>
      !isNotFound(query.state.error) &&
      pollInterval(query, POLLING, ({ entries }, ageMs) => entries.length === 0 && ageMs < TEST_MS),
  });

/** Loads the next older page and appends it to the cached log. */
async function readOlder(queries: QueryClient, agentId: string, deploymentId: string): Promise<void> {
  const { queryKey } = log(agentId, deploymentId);
  const cursor = queries.getQueryData(queryKey)?.next;
  if (cursor === undefined) return;
  const older = await readPage(agentId, deploymentId, cursor);
  queries.setQueryData(queryKey, (cached) => (cached?.next === cursor ? withOlder(cached, older) : cached));
}

/** Queries of the invocations of a webhook. Query keys begin with the key of the deployment. */
export const invocations = { log, readOlder };

/** An entry that counts several invocations changes over time, so the newer copy replaces the older one. */
function withNewest(log: InvocationLog | undefined, { items, next }: ListPage<Invocation>): InvocationLog {
  const cached = new Set(log?.entries.map(({ invocation_id: id }) => id));
  // When the newest page shares no entry with the log, entries between them are missing, so the log starts again from the
  // newest page. It also starts again when it has grown beyond MAX_ENTRIES.
  if (
    !log ||
    log.entries.length > MAX_ENTRIES ||
    (log.entries.length > 0 && !items.some(({ invocation_id: id }) => cached.has(id)))
  )
    return { entries: items, next };
  return { ...log, entries: merge(items, log.entries), next: log.entries.length > 0 ? log.next : next };
}

function withOlder(log: InvocationLog, { items, next }: ListPage<Invocation>): InvocationLog {
  return { entries: merge(log.entries, items), next };
}

function merge(first: Invocation[], second: Invocation[]): Invocation[] {
  const seen = new Set(first.map(({ invocation_id: id }) => id));
  return [...first, ...second.filter(({ invocation_id: id }) => !seen.has(id))].sort((a, b) =>
    a.invocation_id < b.invocation_id ? 1 : -1,
  );
}
