import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

/** The result of a tool, as both libraries return it. */
export interface ToolOutcome {
  isError?: boolean;
  content: { type: string; text?: string; uri?: string }[];
  structuredContent?: Record<string, unknown>;
}

interface CallOptions {
  signal?: AbortSignal;
  timeout?: number;
  resetTimeoutOnProgress?: boolean;
  onprogress?: (progress: { progress: number; message?: string }) => void;
}

interface ReadContent {
  uri: string;
  mimeType?: string;
  text?: string;
  blob?: string;
}

/** The members of the two SDKs' clients that tests use. */
export interface McpTestClient extends AsyncDisposable {
  revision: string;
  toolNames(): Promise<string[]>;
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<ToolOutcome>;
  listResources(): Promise<{ uri: string; title?: string }[]>;
  listTemplates(): Promise<{ uriTemplate: string }[]>;
  read(uri: string): Promise<ReadContent>;
}

const INFO = { name: 'a-test', version: '1.0.0' };
const optionsOf = (token: string | undefined) =>
  token === undefined ? {} : { requestInit: { headers: { Authorization: `Bearer ${token}` } } };

/** A connected client of the revision 2026-07-28. */
export async function connectClient(url: string, token?: string): Promise<McpTestClient & { sdk: Client }> {
  const sdk = new Client(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await sdk.connect(new StreamableHTTPClientTransport(new URL(url), optionsOf(token)));
  return {
    revision: sdk.getNegotiatedProtocolVersion() ?? '',
    sdk,
    toolNames: async () => (await sdk.listTools()).tools.map(({ name }) => name),
    call: async (name, args, options) =>
      (await sdk.callTool({ name, arguments: args }, options)) as ToolOutcome,
    listResources: async () => (await sdk.listResources()).resources,
    listTemplates: async () => (await sdk.listResourceTemplates()).resourceTemplates,
    read: async (uri) => (await sdk.readResource({ uri })).contents[0] as ReadContent,
    [Symbol.asyncDispose]: () => sdk.close(),
  };
}

/** A connected client of the revision 2025-11-25. */
export async function connectEarlierClient(url: string, token?: string): Promise<McpTestClient> {
  const sdk = new EarlierClient(INFO);
  const transport = new EarlierTransport(new URL(url), optionsOf(token));
  // The library declares optional members that exactOptionalPropertyTypes refuses.
  await sdk.connect(transport as Parameters<EarlierClient['connect']>[0]);
  return {
    revision: transport.protocolVersion ?? '',
    toolNames: async () => (await sdk.listTools()).tools.map(({ name }) => name),
    call: async (name, args, options) =>
      (await sdk.callTool({ name, arguments: args }, undefined, options as object)) as ToolOutcome,
    listResources: async () => (await sdk.listResources()).resources,
    listTemplates: async () => (await sdk.listResourceTemplates()).resourceTemplates,
    read: async (uri) => (await sdk.readResource({ uri })).contents[0] as ReadContent,
    [Symbol.asyncDispose]: () => sdk.close(),
  };
}
