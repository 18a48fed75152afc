import { catalogueText } from '../../../lib/mcp-catalogue/catalogue.ts';
import type {
  CreateMcpServerRequest,
  McpServer,
  McpToolRule,
} from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { type AgentsSystem, administrator } from './system.ts';

export const ABSENT_SERVER = 'mcp_7ZZZZZZZZZZZZZZZZZZZZZZZZZ';

let count = 0;

/** A valid request with a unique name. */
export function serverRequest(overrides: Partial<CreateMcpServerRequest> = {}): CreateMcpServerRequest {
  count += 1;
  return {
    name: `server-${count}`,
    url: 'https://mcp.example.com/mcp',
    transport: 'streamable_http',
    description: 'Issues and pull requests.',
    enabled: true,
    authorization: 'none',
    timeoutSeconds: 60,
    availableTo: 'managers',
    trustAnnotations: false,
    offerInstructions: false,
    oauth: undefined,
    clientSecret: undefined,
    idempotencyKey: '',
    ...overrides,
  };
}

export async function createServer(
  { edge }: AgentsSystem,
  overrides: Partial<CreateMcpServerRequest> = {},
): Promise<McpServer> {
  const { mcpServer } = await edge.createMcpServer(serverRequest(overrides), administrator);
  if (!mcpServer) throw new Error('the response has no MCP server');
  return mcpServer;
}

/** The canonical text of a catalogue with these tools; the value of each member is its description. */
export function catalogueOf(tools: Record<string, string>, inputSchema: object = { type: 'object' }) {
  return catalogueText({
    title: 'Example',
    instructions: '',
    tools: Object.entries(tools).map(([name, description]) => ({
      name,
      title: '',
      description,
      input_schema: { ...inputSchema },
      output_schema: null,
      annotations: {},
    })),
  });
}

export const rulesFor = (...names: string[]): McpToolRule[] =>
  names.map((name) => ({ name, offered: true, permission: 'ask', effect: 'once' }));

/** Reports a catalogue as a runner does. */
export async function reportCatalogue({ as }: AgentsSystem, mcpServerId: string, json: string) {
  const report = { mcpServerId, protocolVersion: '2026-07-28', catalogueJson: json };
  await as('runner').reportCatalogue(report, administrator);
}

/** Creates a server with a review that offers these tools. */
export async function reviewedServer(
  agents: AgentsSystem,
  tools: Record<string, string>,
  overrides: Partial<CreateMcpServerRequest> = {},
): Promise<McpServer> {
  const { mcpServerId } = await createServer(agents, overrides);
  const { json, sha256 } = catalogueOf(tools);
  await reportCatalogue(agents, mcpServerId, json);
  const request = { mcpServerId, sha256, rules: rulesFor(...Object.keys(tools)) };
  const { mcpServer } = await agents.edge.reviewCatalogue(
    { ...request, pending: [], offerResources: false, ifRevisions: undefined },
    administrator,
  );
  if (!mcpServer) throw new Error('the response has no MCP server');
  return mcpServer;
}
