import { useQuery, useQueryClient } from '@tanstack/react-query';
import { PlugZap } from 'lucide-react';
import { useState } from 'react';
import { mcpServers } from '../../api/mcp-servers.ts';
import type { McpProbe, McpServer } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { ErrorAlert } from '../../parts/errors/error-state.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { Select } from '../../ui/select.tsx';
import { Time } from '../../ui/time.tsx';
import { probe } from './probe.ts';

const NO_CREDENTIAL = '';

/** Connects to the server, with a shared credential if one is chosen, and shows the result. */
export function ProbePanel({ server }: { server: McpServer }) {
  const { mcp_server_id: id, url, authorization, catalogue } = server;
  const queries = useQueryClient();
  const { data: result, error, isFetching } = useQuery(mcpServers.probe(id));
  const mayNeedCredential = authorization !== 'none' || catalogue.state === 'unauthorized';
  const { data: credentials = [] } = useQuery({
    ...mcpServers.credentials(url),
    enabled: mayNeedCredential,
  });
  const [chosen, setChosen] = useState<string>();
  const credentialId = chosen ?? credentials[0]?.credential_id ?? NO_CREDENTIAL;
  const options = [
    { value: NO_CREDENTIAL, text: 'No credential' },
    ...credentials.map(({ credential_id: value, label, vault_name: vault }) => ({
      value,
      text: label ? `${label} (${vault})` : vault,
    })),
  ];
  const body = credentialId === NO_CREDENTIAL ? {} : { credential_id: credentialId };
  return (
    <section aria-labelledby="probe" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <div>
          <h2 id="probe" className="font-semibold">
            Probe
          </h2>
          <p className="text-[13px] text-muted">
            Connects to the server and reads its tools.{' '}
            {catalogue.seen_at !== null && (
              <>
                Last read <Time at={catalogue.seen_at} />.
              </>
            )}
          </p>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          {credentials.length > 0 && (
            <Select
              label="Credential for the probe"
              value={credentialId}
              options={options}
              onChange={setChosen}
              className="max-w-64"
            />
          )}
          <CopyCurl method="POST" path={`/admin/mcp-servers/${id}/probe`} body={body} about="of the probe" />
          <Button
            look={catalogue.seen_sha256 === null ? 'primary' : 'secondary'}
            busy={isFetching}
            onClick={() => void probe(queries, id, credentialId || undefined).catch(() => {})}
          >
            <PlugZap aria-hidden />
            Probe
          </Button>
        </div>
      </div>
      <div role="status">
        {isFetching ? (
          <p className="text-muted">Connecting to the server…</p>
        ) : (
          result && !error && <ProbeResult result={result} hasCredentials={credentials.length > 0} />
        )}
      </div>
      {!isFetching && <ErrorAlert error={error} />}
    </section>
  );
}

function ProbeResult({ result, hasCredentials }: { result: McpProbe; hasCredentials: boolean }) {
  const { problem, catalogue, latency_ms: ms, protocol_version: version } = result;
  if (problem)
    return (
      <Card className="flex flex-col gap-1.5 p-4">
        <div className="flex flex-wrap items-center gap-2">
          <Badge tone="bad">{problem.code}</Badge>
          <span className="wrap-anywhere">{problem.message}</span>
        </div>
        {problem.code === 'unauthorized' && !hasCredentials && (
          <p className="text-[13px] text-muted">
            Create a credential for the URL of this server in a shared vault, and probe again.
          </p>
        )}
      </Card>
    );
  const count = catalogue?.tools.length ?? 0;
  return (
    <p className="text-muted">
      <Badge tone="good">reachable</Badge> {count === 1 ? '1 tool' : `${count} tools`}, protocol{' '}
      {version ?? 'unknown'}, {ms} ms
    </p>
  );
}
