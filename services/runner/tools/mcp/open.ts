import type { Bus } from '../../../../lib/bus/bus.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { Refusal } from '../../../../lib/errors.ts';
import type { CallOptions, Client } from '../../../../lib/grpc/contract.ts';
import type { PeerSealer } from '../../../../lib/grpc/sealed-for-peer.ts';
import type { Ids } from '../../../../lib/ids.ts';
import { SchemaValidator } from '../../../../lib/json-schema/validator.ts';
import type { Log } from '../../../../lib/log.ts';
import type { ConnectMcp } from '../../../../lib/mcp/open.ts';
import type { Metrics } from '../../../../lib/metrics.ts';
import type {
  AgentsServiceDefinition,
  McpServerRuntime,
} from '../../../../proto/gen/ahs/agents/v1/agents.ts';
import { createLentCredentials, type VaultsClient } from '../../credentials/lent-credentials.ts';
import type { FilesClient } from '../../workspace/workspace-client.ts';
import type { RegisteredTool } from '../tool.ts';
import { Comparison } from './comparison.ts';
import { createMcpTool } from './mcp-tool.ts';
import { offeredInstructions, offeredTools, type ReviewedServer } from './offered-tools.ts';
import { RemoteServers } from './remote-server.ts';
import { createResourceTools } from './resource-tools.ts';
import { SchemaCheck } from './schema-check.ts';
import { createServerDirectory } from './server-directory.ts';
import { TurnConnections } from './turn-connections.ts';

interface McpToolsOptions {
  agents: Pick<Client<AgentsServiceDefinition>, 'lookUpMcpServers' | 'getCatalogueBody' | 'reportCatalogue'>;
  vaults: VaultsClient;
  files: FilesClient;
  sealer: PeerSealer;
  connect: ConnectMcp;
  metrics: Metrics;
  bus: Bus;
  clock: Clock;
  ids: Ids;
  log: Log;
  maxTools: number;
  /** Whether a server may ask a person to open this link. */
  isAllowedLink(url: URL): boolean;
}

/** What MCP servers add to an agent for one turn. */
export interface ServerTools {
  tools: RegisteredTool[];
  /** The tools that list and read resources, and the names of the servers that they can name. */
  resourceTools: RegisteredTool[];
  resourceServers: string[];
  /** The number of the review of each server by name. */
  reviews: ReadonlyMap<string, number>;
  /** Text for the system prompt by the name of its server. */
  instructions: ReadonlyMap<string, string>;
  /** Ends what the turn has opened at servers. Never rejects. */
  close: TurnConnections['close'];
}

/** Time limit of a check, in milliseconds. */
const CHECK_MS = 100;

export type McpTools = ReturnType<typeof createMcpTools>;

/** Creates the tools of remote MCP servers. */
export function createMcpTools(options: McpToolsOptions) {
  const { agents, files, connect, metrics, bus, clock, log, maxTools } = options;
  const directory = createServerDirectory(agents, bus, clock);
  const credentials = createLentCredentials(options);
  const servers = new RemoteServers(connect, clock);
  // With failures of its own: a list that cannot be read does not stop calls.
  const comparison = new Comparison({ agents, servers: new RemoteServers(connect, clock), clock, log });
  const unchecked = metrics.counter({
    name: 'ahs_mcp_unchecked_values_total',
    help: 'Inputs and outputs of MCP tools that were not checked, because their schema exceeds the limits of a check.',
  });
  // A thread of its own, so that schemas of servers delay nothing else.
  const validator = new SchemaValidator(clock, CHECK_MS);
  const schemas = new SchemaCheck(validator, () => unchecked.labels().inc());
  const { isAllowedLink } = options;
  const shared = { directory, credentials, comparison, schemas, files, clock, isAllowedLink };

  /** Undefined for a server that was deleted meanwhile. */
  async function review(server: McpServerRuntime, call: CallOptions): Promise<ReviewedServer | undefined> {
    try {
      return { server, catalogue: await directory.catalogue(server.catalogueSha256, call) };
    } catch (error) {
      if (error instanceof Refusal && error.code === 'CATALOGUE_UNREVIEWED') return undefined;
      throw error;
    }
  }

  return {
    /**
     * Returns what the reviews of the servers offer now. No server is called. Rejects with refusals of the agents service.
     */
    async offer(serverIds: readonly string[], call: CallOptions): Promise<ServerTools> {
      const found = await directory.servers(serverIds, call);
      const usable = found.filter(({ enabled, review }) => enabled && review > 0);
      const reviews = await Promise.all(usable.map((server) => review(server, call)));
      const reviewed = reviews.filter((one) => one !== undefined);
      const connections = new TurnConnections(servers, credentials, clock);
      const context = { ...shared, connections };
      const withResources = reviewed
        .map(({ server }) => server)
        .filter(({ offerResources }) => offerResources);
      return {
        resourceTools: createResourceTools(withResources, context),
        resourceServers: withResources.map(({ name }) => name).sort(),
        tools: offeredTools(reviewed, maxTools).map((offered) => createMcpTool(offered, context)),
        reviews: new Map(reviewed.map(({ server }) => [server.name, server.review])),
        instructions: offeredInstructions(reviewed),
        close: (end) => connections.close(end),
      };
    },

    async stop(): Promise<void> {
      directory.close();
      credentials.close();
      await comparison.stop();
      await validator[Symbol.asyncDispose]();
    },
  };
}
