import type { Bus } from '../../../../lib/bus/bus.ts';
import { createCache } from '../../../../lib/cache.ts';
import type { Clock } from '../../../../lib/clock.ts';
import type { CallOptions, Client } from '../../../../lib/grpc/contract.ts';
import { type Catalogue, readCatalogue } from '../../../../lib/mcp-catalogue/catalogue.ts';
import type {
  AgentsServiceDefinition,
  McpServerRuntime,
} from '../../../../proto/gen/ahs/agents/v1/agents.ts';
import { CatalogueCache } from './catalogue-cache.ts';

/** Changes of servers and reviews take effect within this time, also when a hint is lost. */
const MAX_AGE_MS = 1_000;

export type ServerDirectory = ReturnType<typeof createServerDirectory>;
export type DirectoryClient = Pick<Client<AgentsServiceDefinition>, 'lookUpMcpServers' | 'getCatalogueBody'>;

/** Reads and caches MCP servers and their reviewed catalogues. */
export function createServerDirectory(agents: DirectoryClient, bus: Bus, clock: Clock) {
  const servers = createCache<readonly McpServerRuntime[]>(clock, MAX_AGE_MS);
  const catalogues = new CatalogueCache();
  const unsubscribe = bus.subscribe('extensions.changed', () => servers.clear());

  return {
    /** The servers in the order of the ids, without deleted ones. */
    servers(ids: readonly string[], { trace }: CallOptions): Promise<readonly McpServerRuntime[]> {
      return servers.get(ids.join(' '), async () => {
        // Other turns wait for the same answer, so it does not end with this turn.
        const { mcpServers } = await agents.lookUpMcpServers({ mcpServerIds: [...ids] }, { trace });
        const byId = new Map(mcpServers.map((server) => [server.mcpServerId, server]));
        return ids.flatMap((id) => byId.get(id) ?? []);
      });
    },

    catalogue(sha256: string, { trace }: CallOptions): Promise<Catalogue> {
      return catalogues.get(sha256, async () => {
        const { catalogueJson } = await agents.getCatalogueBody({ sha256 }, { trace });
        return { catalogue: readCatalogue(catalogueJson), bytes: Buffer.byteLength(catalogueJson) };
      });
    },

    close: unsubscribe,
  };
}
