import type { DatabaseSession } from '../../../lib/db/database.ts';
import type { AgentViewer } from '../domain/access.ts';
import type { AgentRuntime } from '../domain/agent-runtime.ts';
import {
  checkServers,
  checkToolServers,
  type ExtensionServer,
  serversOfTools,
} from '../domain/extensions.ts';
import { LOCK_SERVERS_FOR_USE, SERVER_NAMES } from './mcp-server-statements.ts';

/**
 * Keeps the MCP servers of a changed runtime from being deleted before the transaction ends. Refused with
 * MCP_SERVER_NOT_FOUND or INVALID_REQUEST, as `checkServers` describes.
 */
export async function requireMcpServers(
  tx: DatabaseSession,
  { before, after }: { before: AgentRuntime; after: AgentRuntime },
  viewer: AgentViewer,
  maxTools: number,
): Promise<void> {
  const { ids } = after.mcpServers;
  const former = before.mcpServers.ids;
  if (ids.length === 0 || ids === former) return;
  const found = await tx.rows<ExtensionServer>(LOCK_SERVERS_FOR_USE, [ids]);
  checkServers({ ids, before: former, found }, viewer, maxTools);
}

/** Refused with INVALID_REQUEST for entries in `tools` that name an MCP server that does not exist. */
export async function requireToolServers(
  tx: DatabaseSession,
  { tools }: AgentRuntime,
  before?: AgentRuntime,
): Promise<void> {
  const known = before ? serversOfTools(before.tools) : [];
  const names = serversOfTools(tools).filter((name) => !known.includes(name));
  if (names.length === 0) return;
  const rows = await tx.rows<{ name: string }>(SERVER_NAMES, [names]);
  checkToolServers(tools, [...known, ...rows.map(({ name }) => name)]);
}
