const REVISION = '2026-07-28';
export const CLIENT_INFO = { name: 'a-test', version: '1.0.0' };

/** The members of `params` whose value a request also has as a header. */
const NAMES: Record<string, string> = {
  'tools/call': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

interface RequestOptions {
  token?: string | undefined;
  capabilities?: object;
  headers?: Record<string, string>;
  id?: number;
  signal?: AbortSignal | undefined;
}

/** The response to a request: a result or an error. */
export interface McpResponse {
  status: number;
  id: unknown;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: Record<string, unknown> };
}

/** Sends a request of the revision 2026-07-28. `params._meta` takes precedence over the capabilities. */
export async function sendMcpRequest(
  url: string,
  method: string,
  params: Record<string, unknown>,
  { token, capabilities = {}, headers = {}, id = 1, signal }: RequestOptions = {},
): Promise<McpResponse> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientInfo': CLIENT_INFO,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    ...(params._meta as object | undefined),
  };
  const name = params[NAMES[method] ?? ''];
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': REVISION,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } }),
    ...(signal && { signal }),
  });
  const text = await response.text();
  // The last message of a stream is the response.
  const data = [...text.matchAll(/^data: (.*)$/gm)].at(-1)?.[1] ?? text;
  return { status: response.status, ...JSON.parse(data) };
}
