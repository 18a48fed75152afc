import { refuse } from '../../../lib/errors.ts';
import { administratorOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { findWarnings } from '../domain/mcp-warnings.ts';
import type { AgentsHandlerContext } from './context.ts';
import { createServerProbe } from './server-probe.ts';

type Methods = Pick<Handlers<AgentsServiceDefinition>, 'probeMcpServer'>;

/** The RPC that reads the catalogue of an MCP server. */
export function mcpProbeHandlers(context: AgentsHandlerContext): Methods {
  const { mcpServers, record } = context;
  const probe = createServerProbe(context);

  return {
    async probeMcpServer({ mcpServerId, credentialId }, call) {
      administratorOf(call);
      const server = await mcpServers.server(mcpServerId, call);
      // The audit log limits the length of data.
      if (credentialId !== '' && !isId('crd', credentialId))
        throw refuse('CREDENTIAL_NOT_FOUND', 'Unknown credential.');
      const data = credentialId === '' ? {} : { credential_id: credentialId };
      await record({ action: 'mcp-server.probe', targetId: mcpServerId, data }, call);
      const { probed, recorded } = await probe(server, { credentialId, anyShared: false }, call);
      const { sha256 = '', catalogue, diff } = recorded ?? {};
      const warnings = catalogue ? findWarnings(catalogue) : [];
      return { ...probed, catalogueSha256: sha256, warnings, diff };
    },
  };
}
