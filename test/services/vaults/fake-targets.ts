import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { AgentsServiceDefinition, McpServerRuntime } from '../../../proto/gen/ahs/agents/v1/agents.ts';

export const AGENT = 'agt_01M7XYC91CC5TE06JQWDWRTJVA';
export const OTHER_AGENT = 'agt_01M7XYC91CC5TE06JQWDWRTJVB';
export const ASSISTANT = 'ast_01M7XYC91CC5TE06JQWDWRTJVC';
export const UNKNOWN_AGENT = 'agt_01M7XYC91CC5TE06JQWDWRTJVD';

const VERSION = { version: 1, createdBy: '', createdAt: undefined };
const RUNTIME = {
  ...{ model: 'rehearsal/echo', modelOptionsJson: '{}', system: '', tools: [], maxSteps: 1 },
  ...{ budget: undefined, outputSchemaJson: '', overridable: undefined, clientTools: [] },
};
const ENVIRONMENT = {
  ...{ name: '', enabled: true, version: 1, isDefault: false, createdBy: '' },
  ...{ createdAt: undefined, updatedAt: undefined },
};
const SPEC = { sandbox: undefined, network: undefined, tenancy: 'session', idle: undefined };

const SERVER = {
  ...{ transport: 'streamable_http', authorization: 'shared', timeoutSeconds: 60, enabled: true, review: 1 },
  ...{ trustAnnotations: false, offerInstructions: false, catalogueSha256: '', changedTools: [], rules: [] },
  ...{ offerResources: false, protocolVersion: '', oauth: undefined },
};

let servers = 0;

/** Fake of the agents service: agents and assistants with environments and MCP servers, and access levels. */
export class FakeTargets {
  /** The names of the variables in the environment of each agent and assistant. */
  readonly variables = new Map<string, string[]>([
    [AGENT, []],
    [OTHER_AGENT, []],
    [ASSISTANT, []],
  ]);
  /** Levels by user and agent, as `<user id> <agent id>`. Other users see no agent. */
  readonly levels = new Map<string, string>();
  /** The ids of the MCP servers of each agent and assistant. */
  readonly serverIds = new Map<string, string[]>();
  readonly #servers = new Map<string, McpServerRuntime>();
  /** The MCP servers that were looked up. */
  readonly lookedUp: string[] = [];
  /** `<agent id> <version>` of each read version. */
  readonly versionsRead: string[] = [];

  /** Creates an MCP server of an agent. */
  addServer(members: Partial<McpServerRuntime> = {}, agentId = AGENT): McpServerRuntime {
    servers += 1;
    const mcpServerId = `mcp_${String(servers).padStart(26, '0')}`;
    const name = `server-${servers}`;
    const server = { ...SERVER, mcpServerId, name, url: `https://${name}.example/mcp`, ...members };
    this.putServer(server);
    this.serverIds.set(agentId, [...(this.serverIds.get(agentId) ?? []), mcpServerId]);
    return server;
  }

  putServer(server: McpServerRuntime): void {
    this.#servers.set(server.mcpServerId, server);
  }

  deleteServer(mcpServerId: string): void {
    this.#servers.delete(mcpServerId);
  }

  readonly handlers: Partial<Handlers<AgentsServiceDefinition>> = {
    getAgentVersion: async ({ agentId, version }) => {
      this.versionsRead.push(`${agentId} ${version}`);
      if (!this.variables.has(agentId)) throw refuse('AGENT_VERSION_NOT_FOUND', 'Unknown version.');
      const mcpServers = { ids: this.serverIds.get(agentId) ?? [] };
      return {
        version: { ...VERSION, agentId, runtime: { ...RUNTIME, environmentId: agentId, mcpServers } },
        agentName: '',
      };
    },
    lookUpMcpServers: async ({ mcpServerIds }) => {
      this.lookedUp.push(...mcpServerIds);
      const found = mcpServerIds.map((id) => this.#servers.get(id));
      return { mcpServers: found.filter((server) => server !== undefined) };
    },
    listConnectableServers: async () => ({
      mcpServers: [...this.#servers.values()]
        .filter(({ enabled, authorization }) => enabled && ['personal', 'any'].includes(authorization))
        .map(({ mcpServerId, name, url }) => ({ mcpServerId, name, url, description: '' })),
    }),
    getEnvironment: async ({ environmentId }) => {
      const names = this.variables.get(environmentId) ?? [];
      const variables = Object.fromEntries(names.map((name) => [name, 'set']));
      return { environment: { ...ENVIRONMENT, environmentId, spec: { ...SPEC, variables } } };
    },
    getLevel: async ({ agentId }, { caller }) => {
      if (!this.variables.has(agentId)) return { level: 'none' };
      if (caller?.roles.includes('administrator'))
        return { level: agentId.startsWith('agt_') ? 'manage' : 'see' };
      return { level: this.levels.get(`${caller?.userId} ${agentId}`) ?? 'none' };
    },
  };
}
