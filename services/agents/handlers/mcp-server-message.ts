import type { McpServer as McpServerMessage } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { catalogueState, type McpServer } from '../domain/mcp-server.ts';

/** The message of an MCP server. */
export function mcpServerMessage(server: McpServer): McpServerMessage {
  const { reviewedSha256, reviewedBy, reviewedAt, toolCount, offeredCount, seenSha256, seenAt } = server;
  return {
    ...server,
    catalogue: {
      reviewedSha256,
      reviewedBy,
      reviewedAt: reviewedAt ?? undefined,
      toolCount,
      offeredCount,
      seenSha256,
      seenAt: seenAt ?? undefined,
      state: catalogueState(server),
    },
  };
}
