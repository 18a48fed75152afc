import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { type Invocation, listInvocations } from '../gen/index.ts';
import { askPage, isMissing } from './client.ts';
import type { ListPage } from './pages.ts';

/** What is known of the calls of a trigger, newest first and without gaps. */
export interface InvocationLog {
  entries: Invocation[];
  /** Where older ones begin; undefined when all are here. */
  next: string | undefined;
}

const FOLLOW_MS = 2_000;
const MOST_KEPT = 20_000;

const read = (agentId: string, deploymentId: string, cursor?: string, signal?: AbortSignal) =>
  askPage(
    listInvocations({ path: { agent_id: agentId, deployment_id: deploymentId }, query: { cursor }, signal }),
  );

/** The log of a trigger, followed for as long as somebody looks. */
const log = (agentId: string, deploymentId: string) =>
  queryOptions({
    queryKey: ['triggers', deploymentId, 'invocations'],
    queryFn: async ({ client, queryKey, signal }): Promise<InvocationLog> => {
      const newest = await read(agentId, deploymentId, undefined, signal);
      return withNewest(client.getQueryData<InvocationLog>(queryKey), newest);
    },
    staleTime: 0,
    refetchInterval: ({ state }) => !isMissing(state.error) && FOLLOW_MS,
  });

/** Reads what lies behind the end of what is known. */
async function readOlder(queries: QueryClient, agentId: string, deploymentId: string): Promise<void> {
  const { queryKey } = log(agentId, deploymentId);
  const cursor = queries.getQueryData(queryKey)?.next;
  if (cursor === undefined) return;
  const older = await read(agentId, deploymentId, cursor);
  queries.setQueryData(queryKey, (known) => (known?.next === cursor ? withOlder(known, older) : known));
}

/** What can be seen of the calls of a trigger. Keys begin with those of the trigger. */
export const invocations = { log, readOlder };

/** Entries that count several calls grow; the newer word about them holds. */
function withNewest(log: InvocationLog | undefined, { items, next }: ListPage<Invocation>): InvocationLog {
  const known = new Set(log?.entries.map(({ invocation_id: id }) => id));
  // More has come since than a page holds: what is between is read again, from the newest on. So is a log that has been
  // followed for so long that nobody reads all of it.
  if (
    !log ||
    log.entries.length > MOST_KEPT ||
    (log.entries.length > 0 && !items.some(({ invocation_id: id }) => known.has(id)))
  )
    return { entries: items, next };
  return { ...log, entries: merged(items, log.entries), next: log.entries.length > 0 ? log.next : next };
}

function withOlder(log: InvocationLog, { items, next }: ListPage<Invocation>): InvocationLog {
  return { entries: merged(log.entries, items), next };
}

function merged(first: Invocation[], second: Invocation[]): Invocation[] {
  const had = new Set(first.map(({ invocation_id: id }) => id));
  return [...first, ...second.filter(({ invocation_id: id }) => !had.has(id))].sort((a, b) =>
    a.invocation_id < b.invocation_id ? 1 : -1,
  );
}
