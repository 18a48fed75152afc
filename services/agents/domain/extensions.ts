import { refuse, refuseField } from '../../../lib/errors.ts';
import { FieldProblems } from '../../../lib/field-problems.ts';
import { isId } from '../../../lib/ids.ts';
import { MAX_OFFERED_BYTES, MAX_SERVERS } from '../../../lib/mcp-catalogue/tool-definition.ts';
import { serverOfEntry } from '../../../lib/mcp-catalogue/tool-names.ts';
import type { AgentViewer } from './access.ts';
import type { AgentTool } from './runtime-fields.ts';

/** An MCP server as the extensions of an agent show it. */
export interface ExtensionServer {
  mcpServerId: string;
  name: string;
  description: string;
  enabled: boolean;
  /** managers | administrators */
  availableTo: string;
  review: number;
  reviewedSha256: string;
  seenSha256: string;
  toolCount: number;
  offeredCount: number;
  offeredBytes: number;
  offerResources: boolean;
  isDeleted: boolean;
}

/** ready | unreviewed | changed | disabled | deleted */
export function extensionState(server: ExtensionServer): string {
  if (server.isDeleted) return 'deleted';
  if (!server.enabled) return 'disabled';
  if (server.review === 0) return 'unreviewed';
  return server.reviewedSha256 === server.seenSha256 ? 'ready' : 'changed';
}

/** Refused with INVALID_REQUEST for a list that is not valid. Unknown ids are refused later. */
export function checkServerIds(ids: readonly string[]): void {
  const problems = new FieldProblems();
  if (ids.length > MAX_SERVERS) problems.add('/mcp_server_ids', `must have at most ${MAX_SERVERS} items`);
  else
    for (const [index, id] of ids.entries())
      if (ids.indexOf(id) < index)
        problems.add(`/mcp_server_ids/${index}`, 'must not repeat an earlier item');
  problems.throwIfAny();
}

interface NewServers {
  ids: readonly string[];
  /** The servers that the agent has before the change. */
  before: readonly string[];
  /** Those that exist. */
  found: readonly ExtensionServer[];
}

/**
 * Refused with MCP_SERVER_NOT_FOUND for new servers that do not exist or that the viewer may not add, and with
 * INVALID_REQUEST when the servers offer more tools than an agent may have.
 */
export function checkServers(
  { ids, before, found }: NewServers,
  viewer: AgentViewer,
  maxTools: number,
): void {
  const byId = new Map(found.map((server) => [server.mcpServerId, server]));
  for (const [index, id] of ids.entries()) {
    const server = isId('mcp', id) ? byId.get(id) : undefined;
    if (server && (before.includes(id) || canAdd(server, viewer))) continue;
    const pointer = `/mcp_server_ids/${index}`;
    throw refuse('MCP_SERVER_NOT_FOUND', `${pointer} must name an MCP server that you can add.`, {
      details: [{ pointer, message: 'must name an MCP server that you can add' }],
    });
  }
  const sum = (member: 'offeredCount' | 'offeredBytes') =>
    found.reduce((total, server) => total + server[member], 0);
  if (sum('offeredCount') > maxTools)
    throw refuseField('/mcp_server_ids', `must name servers that offer at most ${maxTools} tools`);
  if (sum('offeredBytes') > MAX_OFFERED_BYTES)
    throw refuseField('/mcp_server_ids', 'must name servers whose tools have at most 256 KiB in total');
}

export function canAdd({ availableTo }: ExtensionServer, { isAdministrator }: AgentViewer): boolean {
  return isAdministrator || availableTo === 'managers';
}

/** The names of the servers that entries in `tools` name. */
export function serversOfTools(tools: readonly AgentTool[]): string[] {
  const servers = tools.map(({ name }) => serverOfEntry(name)).filter((name) => name !== undefined);
  return [...new Set(servers)];
}

/** Refused with INVALID_REQUEST for entries in `tools` of servers that do not exist. */
export function checkToolServers(tools: readonly AgentTool[], existing: readonly string[]): void {
  const problems = new FieldProblems();
  for (const [index, { name }] of tools.entries()) {
    const server = serverOfEntry(name);
    if (server !== undefined && !existing.includes(server))
      problems.add(`/tools/${index}/name`, 'must name a tool of an existing MCP server');
  }
  problems.throwIfAny();
}
