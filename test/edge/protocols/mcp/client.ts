import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** Connects an MCP client to an endpoint of a running system, with these credentials. */
export async function connectMcp(
  url: string,
  headers: Record<string, string> = {},
  options: ClientOptions = {},
): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: 'test', version: '1' }, options);
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

/** Calls a tool and returns its structured result. Fails if the tool reports an error. */
export async function call<Result = Record<string, unknown>>(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Result> {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content)}`);
  return result.structuredContent as Result;
}

/** Calls a tool that reports an error, and returns it. */
export async function callRefused(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<{ code: string; message: string; request_id: string }> {
  const { isError, content } = await client.callTool({ name, arguments: args });
  const [block] = content as { text: string }[];
  if (!isError || !block) throw new Error(`${name} reported no error`);
  return JSON.parse(block.text).error;
}
