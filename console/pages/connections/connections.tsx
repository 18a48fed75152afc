import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Link2, Link2Off } from 'lucide-react';
import type { ReactNode } from 'react';
import { connections } from '../../api/connections.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ErrorState } from '../../parts/errors/error-state.tsx';
import { useQueryFailure } from '../../parts/errors/use-query-failure.ts';
import { isEnded } from '../../parts/users/ended-connections.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { AvailableServer } from './available-server.tsx';
import { ConnectionRow } from './connection-row.tsx';
import { LinkedAccounts } from './linked-accounts.tsx';
import { RefusedNotice } from './refused-notice.tsx';

const route = getRouteApi('/connections');
const PATH = '/auth/connections';

/** The user's connections to MCP servers, and the servers to which the user can connect. */
export function ConnectionsPage() {
  const { refused } = route.useSearch();
  const query = useQuery(connections.all);
  const failure = useQueryFailure(query);
  const curlOf = useCurl();
  return (
    <Page
      title="Connections"
      lead="Your access to MCP servers and your accounts of messaging products. Only your own sessions use them."
      actions={<CopyCurl path={PATH} />}
    >
      {refused !== undefined && <RefusedNotice code={refused} />}
      {failure ? (
        <ErrorState {...failure} curl={curlOf({ path: PATH })} />
      ) : query.data === undefined ? (
        <Skeleton lines={4} />
      ) : (
        <div className="flex flex-col gap-6">
          <p role="status" className="sr-only">
            {countsOf(query.data.connections)}
          </p>
          <List title="Connected" none={<EmptyState icon={<Link2Off />}>No connections yet.</EmptyState>}>
            {query.data.connections.map((connection) => (
              <ConnectionRow key={connection.connection_id} connection={connection} />
            ))}
          </List>
          <List
            title="Available servers"
            none={<EmptyState icon={<Link2 />}>There are no other servers to connect to.</EmptyState>}
          >
            {query.data.available.map((server) => (
              <AvailableServer key={server.mcp_server_id} server={server} />
            ))}
          </List>
          <LinkedAccounts />
        </div>
      )}
    </Page>
  );
}

function countsOf(all: readonly { status: string }[]): string {
  const ended = all.filter(isEnded).length;
  const counted = all.length === 1 ? '1 connection' : `${all.length} connections`;
  return ended === 0 ? counted : `${counted}, ${ended} to connect again`;
}

interface ListProps {
  title: string;
  none: ReactNode;
  children: ReactNode[];
}

function List({ title, none, children }: ListProps) {
  return (
    <section aria-label={title}>
      <h2 className="mb-2 font-semibold">{title}</h2>
      <Card>{children.length === 0 ? none : <ul aria-label={title}>{children}</ul>}</Card>
    </section>
  );
}
