import { useQuery } from '@tanstack/react-query';
import { mcpServers } from '../../api/mcp-servers.ts';
import type { McpServer } from '../../gen/index.ts';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ErrorState } from '../../parts/errors/error-state.tsx';
import { useQueryFailure } from '../../parts/errors/use-query-failure.ts';
import { AddToAgent } from '../../parts/mcp/add-to-agent.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { ProbePanel } from './probe-panel.tsx';
import { Review } from './review/review.tsx';

/** Probes a server and reviews its tools. A reviewed server can be added to an agent. */
export function ToolsTab({ server }: { server: McpServer }) {
  const { mcp_server_id: id, catalogue } = server;
  return (
    <div className="flex flex-col gap-6">
      <ProbePanel server={server} />
      {catalogue.reviewed_sha256 !== null && <AddToAgent server={server} />}
      {catalogue.seen_sha256 !== null && <SeenCatalogue key={id} server={server} />}
    </div>
  );
}

function SeenCatalogue({ server }: { server: McpServer }) {
  const id = server.mcp_server_id;
  const seen = useQuery(mcpServers.catalogue(id, 'seen'));
  const isReviewed = server.catalogue.reviewed_sha256 !== null;
  const reviewed = useQuery({ ...mcpServers.catalogue(id, 'reviewed'), enabled: isReviewed });
  const seenFailure = useQueryFailure(seen);
  const reviewedFailure = useQueryFailure(reviewed);
  const curlOf = useCurl();
  const failure = seenFailure ?? reviewedFailure;
  if (failure)
    return <ErrorState {...failure} curl={curlOf({ path: `/admin/mcp-servers/${id}/catalogue?of=seen` })} />;
  if (!seen.data || (isReviewed && reviewed.data === undefined)) return <Skeleton lines={6} />;
  return <Review server={server} seen={seen.data} reviewed={reviewed.data ?? null} />;
}
