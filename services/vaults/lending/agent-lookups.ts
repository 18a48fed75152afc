import type { Bus } from '../../../lib/bus/bus.ts';
import { createCache } from '../../../lib/cache.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Call, CallOptions, Client } from '../../../lib/grpc/contract.ts';
import type { AgentsServiceDefinition, McpServerRuntime } from '../../../proto/gen/ahs/agents/v1/agents.ts';

/** Changes of MCP servers and assistants take effect within this time, also when a hint is lost. */
const MAX_AGE_MS = 1_000;
/** A version of an agent never changes. */
const VERSION_AGE_MS = 60 * 60_000;
const MAX_VERSIONS = 1_000;

export type AgentLookups = ReturnType<typeof createAgentLookups>;

/** Reads and caches the parts of agents and MCP servers that decide which credentials a turn may use. */
export function createAgentLookups(
  agents: Pick<Client<AgentsServiceDefinition>, 'getAgentVersion' | 'lookUpMcpServers'>,
  bus: Bus,
  clock: Clock,
) {
  const versions = createCache<readonly string[]>(clock, VERSION_AGE_MS, MAX_VERSIONS);
  const assistants = createCache<readonly string[]>(clock, MAX_AGE_MS, MAX_VERSIONS);
  const servers = createCache<McpServerRuntime | undefined>(clock, MAX_AGE_MS);
  const subscriptions = [
    bus.subscribe('agents.changed', (agentId) => assistants.drop(agentId)),
    bus.subscribe('extensions.changed', (mcpServerId) => servers.drop(mcpServerId)),
  ];

  async function loadServerIds(agentId: string, version: number, call: Call): Promise<readonly string[]> {
    const answer = await agents.getAgentVersion({ agentId, version }, sharedCall(call));
    return answer.version?.runtime?.mcpServers?.ids ?? [];
  }

  return {
    /** The ids of the MCP servers of an agent version. The version 0 is the current one of an assistant. */
    serverIds(agentId: string, version: number, call: Call): Promise<readonly string[]> {
      const load = () => loadServerIds(agentId, version, call);
      return version === 0 ? assistants.get(agentId, load) : versions.get(`${agentId} ${version}`, load);
    },

    /** Undefined for a server that was deleted. */
    server(mcpServerId: string, call: Call): Promise<McpServerRuntime | undefined> {
      return servers.get(mcpServerId, async () => {
        const { mcpServers } = await agents.lookUpMcpServers(
          { mcpServerIds: [mcpServerId] },
          sharedCall(call),
        );
        return mcpServers[0];
      });
    },

    close(): void {
      for (const unsubscribe of subscriptions) unsubscribe();
    },
  };
}

/** Other calls wait for the same load, so it does not end with the call that began it. */
function sharedCall({ trace, requestId }: Call): CallOptions {
  return { trace, requestId };
}
