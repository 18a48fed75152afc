import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import {
  type CallToolResult,
  createMcpHandler,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';

export interface TestTool extends Partial<Omit<Tool, 'name'>> {
  call?(input: Record<string, unknown>, context: ServerContext): Promise<CallToolResult> | CallToolResult;
}

export interface McpTestServer extends AsyncDisposable {
  url: string;
  port: number;
  /** The tools by name. Changes take effect at once. */
  tools: Record<string, TestTool>;
  /** Requests by method, in the order of their arrival. */
  requests: string[];
  /** The header Authorization that requests need; empty: none. */
  authorization: string;
  /** Decides instead of `authorization` about the header of a request, which is empty for a request without one. */
  accepts: ((authorization: string) => boolean | Promise<boolean>) | undefined;
  /** The response to requests without it. */
  refusal: { status: number; challenge: string };
  /** Other documents of the server by path, as JSON. They need no authorization. */
  documents: Record<string, unknown>;
  instructions: string;
  /** The contents of its resources by URI. Without any, it offers no resources. */
  resources: Record<string, { mimeType: string; text: string } | { mimeType: string; blob: string }>;
  /** Forgets the sessions, as a restarted server does. */
  forgetSessions(): void;
  /** Ends all connections, also in the middle of a response. */
  closeConnections(): void;
}

/**
 * Starts an MCP server of the SDK on a free port, of the protocol 2026-07-28 or, as `isLegacy`, 2025-11-25, there with sessions
 * as `isStateful`.
 */
export async function startMcpServer(
  tools: Record<string, TestTool>,
  { isLegacy = false, isStateful = false } = {},
): Promise<McpTestServer> {
  const refusal = { status: 401, challenge: 'Bearer' };
  const resources: McpTestServer['resources'] = {};
  const accepts: McpTestServer['accepts'] = undefined;
  const requests: string[] = [];
  const state = { tools, resources, requests, authorization: '', accepts, refusal, instructions: '' };
  const documents: Record<string, unknown> = {};

  function createSdkServer(): Server {
    const info = { name: 'test', title: 'Test server', version: '1.2.3' };
    const hasResources = Object.keys(state.resources).length > 0;
    const capabilities = { tools: {}, ...(hasResources && { resources: {} }) };
    const server = new Server(info, { capabilities, instructions: state.instructions });
    if (hasResources) offerResources(server, state.resources);
    server.setRequestHandler('tools/list', () => ({
      tools: Object.entries(state.tools).map(([name, { call: _, ...tool }]) => ({
        ...tool,
        name,
        inputSchema: tool.inputSchema ?? { type: 'object' },
      })),
    }));
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const tool = state.tools[params.name];
      const result = await tool?.call?.(params.arguments ?? {}, context);
      return result ?? { content: [{ type: 'text', text: `${params.name} ran` }] };
    });
    return server;
  }

  async function isAuthorized(given: string): Promise<boolean> {
    const { authorization, accepts: decide } = state as Pick<McpTestServer, 'authorization' | 'accepts'>;
    return decide ? await decide(given) : authorization === '' || given === authorization;
  }

  const modern = toNodeHandler(createMcpHandler(createSdkServer));
  const sessions = new Map<unknown, NodeStreamableHTTPServerTransport>();
  async function legacy(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    const sessionId = request.headers['mcp-session-id'];
    const known = sessions.get(sessionId);
    if (sessionId !== undefined && !known) return void response.writeHead(404).end();
    const transport = known ?? new NodeStreamableHTTPServerTransport(isStateful ? withSessions() : {});
    if (!known) await createSdkServer().connect(transport);
    await transport.handleRequest(request, response, body);
    if (!known && transport.sessionId !== undefined) sessions.set(transport.sessionId, transport);
    if (request.method === 'DELETE') sessions.delete(sessionId);
  }

  const http = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const body = text === '' ? undefined : JSON.parse(text);
    const document = documents[request.url ?? ''];
    if (document !== undefined) {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(document));
      return;
    }
    state.requests.push(body?.method ?? request.method);
    if (!(await isAuthorized(request.headers.authorization ?? '')))
      response.writeHead(state.refusal.status, { 'WWW-Authenticate': state.refusal.challenge }).end();
    else if (isLegacy) await legacy(request, response, body);
    else await modern(request, response, body);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  return Object.assign(state, {
    documents,
    forgetSessions: () => sessions.clear(),
    closeConnections: () => http.closeAllConnections(),
    port,
    url: `http://127.0.0.1:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  });
}

const withSessions = () => ({ sessionIdGenerator: () => randomUUID() });

function offerResources(server: Server, resources: McpTestServer['resources']): void {
  server.setRequestHandler('resources/list', () => ({
    resources: Object.entries(resources).map(([uri, { mimeType }]) => ({
      uri,
      name: uri.slice(-5),
      mimeType,
    })),
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const resource = resources[uri];
    if (!resource) throw new Error(`no resource ${uri}`);
    return { contents: [{ uri, ...resource }] };
  });
}
