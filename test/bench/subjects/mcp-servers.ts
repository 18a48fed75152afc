/** A process with an MCP server for the measurements of remote tools. Sends its port to its parent. */
import { startMcpServer } from '../../support/mcp-server.ts';

const text = 'x'.repeat(200);
const server = await startMcpServer({ find: { call: () => ({ content: [{ type: 'text', text }] }) } });
process.send?.({ port: server.port, url: server.url });
