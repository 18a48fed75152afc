import { type Api, dataOfCreated } from './api.ts';
import type { McpTestServer } from './mcp-server.ts';

/**
 * Adds an MCP server with the tool `find`, which an administrator has reviewed and to which users connect. The server accepts
 * all requests during the review; the caller protects it afterwards. Returns its id.
 */
export async function addReviewedServer(api: Api, remote: McpTestServer, name: string): Promise<string> {
  const server = { name, url: remote.url, transport: 'streamable_http', authorization: 'personal' };
  const { mcp_server_id: id } = dataOfCreated(await api.post('/admin/mcp-servers', server));
  remote.accepts = undefined;
  remote.authorization = '';
  const probe = await api.post(`/admin/mcp-servers/${id}/probe`);
  const { sha256 } = probe.body.data.catalogue as { sha256: string };
  const tools = [{ name: 'find', offered: true, permission: 'allow', effect: 'once' }];
  await api.send('PUT', `/admin/mcp-servers/${id}/catalogue`, { sha256, tools });
  return String(id);
}
