import type { CallOptions } from '../../../lib/grpc/contract.ts';
import type { ProbeResponse } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import type { McpServer } from '../domain/mcp-server.ts';
import type { AgentsHandlerContext } from './context.ts';
import { createSeenRecorder, type RecordedCatalogue } from './seen-catalogue.ts';

/** The credential of a probe. */
export interface ProbeCredential {
  /** Empty: none. */
  credentialId: string;
  /** Use a shared credential for the URL. Refused with CREDENTIAL_NOT_FOUND if there is none. */
  anyShared: boolean;
}

interface ProbedServer {
  probed: ProbeResponse;
  /** Undefined if the server was not reached. */
  recorded: RecordedCatalogue | undefined;
}

type Context = Pick<AgentsHandlerContext, 'mcpCatalogues' | 'vaults' | 'publishHint'> &
  Parameters<typeof createSeenRecorder>[0];

/** An administrator can wait for a probe, so it ends earlier than the calls of a slow server. */
const MAX_PROBE_SECONDS = 20;
const CALL_TIMEOUT_MS = 45_000;

/** Probes an MCP server through the vaults service, which holds credentials, and stores what was seen. */
export function createServerProbe(context: Context) {
  const { mcpCatalogues, vaults, publishHint } = context;
  const recordSeen = createSeenRecorder(context);
  return async (
    server: McpServer,
    { credentialId, anyShared }: ProbeCredential,
    call: CallOptions,
  ): Promise<ProbedServer> => {
    const { mcpServerId, url, transport } = server;
    const timeoutSeconds = Math.min(server.timeoutSeconds, MAX_PROBE_SECONDS);
    const request = { mcpServerId, url, transport, credentialId, timeoutSeconds, anyShared };
    const probed = await vaults.probe(request, { ...call, timeoutMs: CALL_TIMEOUT_MS });
    if (!probed.reachable) {
      const seen = probed.problem?.code === 'unauthorized' ? 'unauthorized' : 'unreachable';
      await mcpCatalogues.storeProblem(mcpServerId, seen, call);
      if (seen !== server.seenProblem) publishHint('extensions.changed', mcpServerId);
      return { probed, recorded: undefined };
    }
    const { catalogueJson: json, protocolVersion } = probed;
    return { probed, recorded: await recordSeen(mcpServerId, { json, protocolVersion }, call) };
  };
}

export type ServerProbe = ReturnType<typeof createServerProbe>;
