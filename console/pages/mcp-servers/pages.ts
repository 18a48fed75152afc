/** The pages of MCP servers load together, because a user of one opens the others next. */
export { McpServerPage } from './mcp-server.tsx';
export { McpServersPage } from './mcp-servers.tsx';
export { NewMcpServerPage } from './new.tsx';
