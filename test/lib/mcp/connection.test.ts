import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { McpConnection, type McpEndpoint } from '../../../lib/mcp/connection.ts';
import { readCatalogue } from '../../../lib/mcp-catalogue/catalogue.ts';
import { OutboundClient } from '../../../lib/outbound/outbound-client.ts';
import { createFakeClock } from '../../support/clock.ts';
import { startMcpServer, type TestTool } from '../../support/mcp-server.ts';
import { until } from '../../support/wait.ts';

const ERAS: [string, { isLegacy: boolean }, string][] = [
  ['2026-07-28', { isLegacy: false }, '2026-07-28'],
  ['2025-11-25', { isLegacy: true }, '2025-11-25'],
];

const SERVER_INFO = { name: 'test', version: '1.2.3' };

describe('McpConnection', () => {
  let stack = new AsyncDisposableStack();
  afterEach(async () => {
    await stack.disposeAsync();
    stack = new AsyncDisposableStack();
  });

  function optionsFor(port: number) {
    const clock = createFakeClock();
    const outbound = new OutboundClient({ clock, privateHosts: [{ host: '127.0.0.1', port }] });
    stack.defer(() => outbound.close());
    return { clock, outbound };
  }

  async function connect(
    { url, port }: { url: string; port: number },
    endpoint: Partial<McpEndpoint> = {},
    known?: McpConnection['known'],
  ) {
    const options = optionsFor(port);
    const target = { url, transport: 'streamable_http', timeoutSeconds: 30, ...endpoint };
    const connection = await McpConnection.open(target, { ...options, known });
    stack.defer(() => connection.close());
    return { connection, clock: options.clock };
  }

  /** A server of the test's own HTTP responses. */
  async function serve(listener: RequestListener) {
    const http = createServer(listener);
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    stack.defer(async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    });
    const { port } = http.address() as AddressInfo;
    return { port, url: `http://127.0.0.1:${port}/mcp` };
  }

  const toolNamed = (name: string) => ({ name, input_schema: { type: 'object' } });

  describe.each(ERAS)('with a server of %s', (_, era, version) => {
    const start = async (tools: Record<string, TestTool>) => stack.use(await startMcpServer(tools, era));

    it('negotiates the protocol and reads the catalogue', async () => {
      const server = await start({
        write: { description: 'Writes.', annotations: { destructiveHint: true } },
        read: { title: 'Read', inputSchema: { type: 'object', required: ['path'] } },
      });
      server.instructions = 'Read before you write.';
      const { connection } = await connect(server);
      expect(connection.protocolVersion).toBe(version);
      expect(connection.server).toEqual({ name: 'test', title: 'Test server', version: '1.2.3' });
      const { json, prompts, resourceCount } = await connection.readCatalogue();
      expect(readCatalogue(json)).toMatchObject({
        title: 'Test server',
        instructions: 'Read before you write.',
        tools: [
          { name: 'read', title: 'Read', input_schema: { type: 'object', required: ['path'] } },
          { name: 'write', description: 'Writes.', annotations: { destructiveHint: true } },
        ],
      });
      expect({ prompts, resourceCount }).toEqual({ prompts: [], resourceCount: 0 });
    });

    it('calls a tool and returns its result, its error, or the error of the protocol as an error', async () => {
      const server = await start({
        add: { call: ({ a, b }) => ({ content: [], structuredContent: { sum: Number(a) + Number(b) } }) },
        fail: { call: () => ({ isError: true, content: [{ type: 'text', text: 'No such file.' }] }) },
        crash: {
          call: () => {
            throw new Error('broken');
          },
        },
      });
      const { connection } = await connect(server);
      expect(await connection.callTool({ tool: toolNamed('add'), input: { a: 1, b: 2 } })).toMatchObject({
        isError: false,
        structuredContent: { sum: 3 },
      });
      expect(await connection.callTool({ tool: toolNamed('fail'), input: {} })).toMatchObject({
        isError: true,
        content: [{ type: 'text', text: 'No such file.' }],
      });
      expect(await connection.callTool({ tool: toolNamed('crash'), input: {} })).toMatchObject({
        isError: true,
      });
    });

    it('saves requests with a known protocol', async () => {
      const server = await start({ find: {} });
      const { connection } = await connect(server);
      server.requests.length = 0;
      const again = await connect(server, {}, connection.known);
      await again.connection.callTool({ tool: toolNamed('find'), input: {} });
      expect(server.requests).toEqual(
        era.isLegacy ? ['initialize', 'notifications/initialized', 'tools/call'] : ['tools/call'],
      );
    });

    it('reports progress, which prolongs the call, and ends at the time limit without progress', async () => {
      let reported = 0;
      const release: (() => void)[] = [];
      const server = await start({
        slow: {
          async call(_input, { mcpReq }) {
            const token = mcpReq._meta?.progressToken;
            for (let progress = 1; progress <= 2; progress++) {
              await mcpReq.notify({
                method: 'notifications/progress',
                params: { progressToken: token ?? 0, progress, total: 2, message: `part ${progress}` },
              });
              await new Promise<void>((resolve) => release.push(resolve));
            }
            return { content: [] };
          },
        },
      });
      const { connection, clock } = await connect(server);
      const seen: string[] = [];
      const call = connection.callTool({
        tool: toolNamed('slow'),
        input: {},
        onProgress: ({ message }) => {
          reported += 1;
          seen.push(message);
        },
      });
      const failed = call.catch(({ problem }) => problem);
      await until('the server to be reached', () => reported === 1);
      clock.advance(20_000);
      release[0]?.();
      await until('the server to be reached', () => reported === 2);
      clock.advance(20_000);
      expect(seen).toEqual(['part 1', 'part 2']);
      clock.advance(10_001);
      expect(await failed).toBe('timed_out');
    });

    it('cancels a call when the signal aborts', async () => {
      let isCancelled = false;
      let isRunning = false;
      const server = await start({
        wait: {
          call: (_input, { mcpReq }) =>
            new Promise((resolve) => {
              isRunning = true;
              mcpReq.signal.addEventListener('abort', () => {
                isCancelled = true;
                resolve({ content: [] });
              });
            }),
        },
      });
      const { connection } = await connect(server);
      const stop = new AbortController();
      const call = connection.callTool({ tool: toolNamed('wait'), input: {}, signal: stop.signal });
      const failed = call.catch((error) => error);
      await until('the server to be reached', () => isRunning);
      stop.abort(new Error('stopped'));
      expect(await failed).toMatchObject({ message: 'stopped' });
      // A stateless server of 2025-11-25 cannot relate the cancellation to the call.
      if (!era.isLegacy) await until('the server to be reached', () => isCancelled);
    });

    it('sends the credential with every request, and reports its refusal', async () => {
      const server = await start({ find: {} });
      server.authorization = 'Bearer secret-token';
      const headers = { Authorization: 'Bearer secret-token' };
      const { connection } = await connect(server, { headers });
      expect((await connection.readCatalogue()).json).toContain('find');
      await expect(connect(server)).rejects.toMatchObject({ problem: 'unauthorized' });
      server.authorization = 'Bearer another';
      const call = connection.callTool({ tool: toolNamed('find'), input: {} });
      await expect(call).rejects.toMatchObject({ problem: 'unauthorized' });
      await expect(call).rejects.not.toThrow('secret-token');
    });

    it.each([
      ['with its challenge', 'Bearer error="insufficient_scope", scope="write"', true],
      [
        'without a challenge of more than 4 KiB',
        `Bearer error="insufficient_scope", x="${'x'.repeat(4_096)}"`,
        false,
      ],
      ['that is not for scopes', 'Bearer error="invalid_request"', undefined],
    ])('reports a refusal with status 403 %s', async (_, challenge, isReported) => {
      const server = await start({ find: {} });
      const { connection } = await connect(server);
      server.authorization = 'Bearer another';
      server.refusal = { status: 403, challenge };
      await expect(connection.callTool({ tool: toolNamed('find'), input: {} })).rejects.toMatchObject({
        ...{ problem: 'unauthorized', httpStatus: 403, needsScopes: isReported ?? false },
        challenge: isReported === false ? '' : challenge,
      });
    });

    it('does not run regular expressions of an output schema', async () => {
      const server = await start({
        evil: {
          outputSchema: { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } },
          call: () => ({ content: [], structuredContent: { text: `${'a'.repeat(40)}!` } }),
        },
      });
      const { connection } = await connect(server);
      await connection.readCatalogue();
      // The text does not match the expression. Finding that out would take longer than the time limit of a test.
      const result = await connection.callTool({ tool: toolNamed('evil'), input: {} });
      expect(result.structuredContent).toMatchObject({ text: `${'a'.repeat(40)}!` });
    });
  });

  it('reads at most 64 pages of a list', async () => {
    let pages = 0;
    const server = await serve(modernServer(() => ({ tools: [], nextCursor: `page ${++pages}` })));
    const { connection } = await connect(server);
    await expect(connection.readCatalogue()).rejects.toMatchObject({
      problem: 'too_large',
      message: expect.stringContaining('64 pages'),
    });
    expect(pages).toBe(64);
  });

  it('ends a catalogue after 2 MiB in all of its pages', async () => {
    let pages = 0;
    const description = 'x'.repeat(900 * 1024);
    const server = await serve(
      modernServer(() => ({
        tools: [{ name: `t${++pages}`, description, inputSchema: { type: 'object' } }],
        nextCursor: `${pages}`,
      })),
    );
    const { connection } = await connect(server);
    await expect(connection.readCatalogue()).rejects.toMatchObject({
      ...{ problem: 'too_large', message: 'The server sent more than 2 MiB.' },
    });
    expect(pages).toBe(3);
  });

  it('ends a catalogue after 100,000 values', async () => {
    const properties = { a: { enum: Array.from({ length: 100_000 }, () => 1) } };
    const tools = [{ name: 'find', inputSchema: { type: 'object', properties } }];
    const server = await serve(modernServer(() => ({ tools })));
    const { connection } = await connect(server);
    await expect(connection.readCatalogue()).rejects.toMatchObject({
      ...{ problem: 'too_large', message: 'The server sent more than 100000 JSON values.' },
    });
  });

  it('refuses a catalogue with more than 128 levels', async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(300)}1${'}'.repeat(300)}`);
    const tools = [{ name: 'deep', inputSchema: { type: 'object', properties: deep } }];
    const server = await serve(modernServer(() => ({ tools })));
    const { connection } = await connect(server);
    await expect(connection.readCatalogue()).rejects.toMatchObject({ problem: 'too_large' });
  });

  it('refuses two tools with one name', async () => {
    const tools = ['find', 'find'].map((name) => ({ name, inputSchema: { type: 'object' } }));
    const server = await serve(modernServer(() => ({ tools })));
    const { connection } = await connect(server);
    await expect(connection.readCatalogue()).rejects.toMatchObject({ problem: 'invalid_response' });
  });

  it('ends a JSON response after 4 MiB', async () => {
    const description = 'x'.repeat(5 * 1024 * 1024);
    const tools = [{ name: 'long', description, inputSchema: { type: 'object' } }];
    const server = await serve(modernServer(() => ({ tools })));
    const { connection } = await connect(server);
    await expect(connection.readCatalogue()).rejects.toMatchObject({ problem: 'too_large' });
  });

  it('ends an event after 4 MiB, and a stream of small events after the limit of the connection', async () => {
    for (const event of [`data: ${'x'.repeat(64 * 1024)}`, `: ${'x'.repeat(64 * 1024)}\n\n`]) {
      let sent = 0;
      const server = await serve((request, response) => {
        if (request.method !== 'POST') return void response.writeHead(405).end();
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        const send = () => {
          sent += event.length;
          if (!response.destroyed) response.write(event, send);
        };
        send();
      });
      await expect(connect(server)).rejects.toMatchObject({ problem: 'too_large' });
      expect(sent).toBeLessThan(24 * 1024 * 1024);
    }
  });

  it('names the cause when it cannot connect', async () => {
    const closed = await serve(() => {});
    const problem = async (listener: RequestListener) =>
      connect(await serve(listener)).catch((error) => error.problem);
    expect(await problem((_, response) => void response.writeHead(302, { Location: '/other' }).end())).toBe(
      'redirected',
    );
    expect(await problem((request) => void request.socket.destroy())).toBe('unreachable');
    expect(await problem((_, response) => void response.end('<html>'))).toBe('invalid_response');
    const options = optionsFor(1);
    const endpoint = { url: closed.url, transport: 'streamable_http', timeoutSeconds: 30 };
    await expect(McpConnection.open(endpoint, options)).rejects.toMatchObject({ problem: 'address_refused' });
  });

  it('tells when the server does not know the session of a call', async () => {
    const server = stack.use(await startMcpServer({ find: {} }, { isLegacy: true, isStateful: true }));
    const { connection } = await connect(server);
    expect(connection.hasSession).toBe(true);
    server.forgetSessions();
    const call = connection.callTool({ tool: toolNamed('find'), input: {} });
    await expect(call).rejects.toMatchObject({ httpStatus: 404, isSessionLost: true });
  });

  it('fails at once when the server ends the response of a call without a result', async () => {
    const server = await serve((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        if (!body.includes('tools/call')) return void modernAnswer(body, response, () => ({ tools: [] }));
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        response.end(': nothing\n\n');
      });
    });
    const { connection } = await connect(server);
    const call = connection.callTool({ tool: toolNamed('find'), input: {} });
    await expect(call).rejects.toMatchObject({ problem: 'unreachable' });
  });

  /** A server of 2025-11-25 whose response to a call ends early with an event id. Returns the ids of its resumptions. */
  async function serveBroken(resume: (attempt: number) => string) {
    const resumed: unknown[] = [];
    const stream = { 'Content-Type': 'text/event-stream' };
    const server = await serve(async (request, response) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString() || '{}');
      if (request.method === 'GET') {
        resumed.push(request.headers['last-event-id']);
        const event = resume(resumed.length);
        return void (event === ''
          ? response.writeHead(503).end()
          : response.writeHead(200, stream).end(event));
      }
      if (method === 'tools/call')
        return void response.writeHead(200, stream).end('retry: 1\nid: e0\ndata:\n\n');
      if (method !== 'initialize')
        return void response.writeHead(method === 'server/discover' ? 404 : 202).end();
      const serverInfo = { name: 'broken', version: '1' };
      const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
      response.writeHead(200, { 'Content-Type': 'application/json', 'Mcp-Session-Id': 's1' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    const { connection, clock } = await connect(server);
    const call = connection.callTool({ tool: toolNamed('find'), input: {} }).catch((error) => error);
    const resumeAfter = async (attempt: number) => {
      await until('the call is resumed', () => {
        clock.advance(1);
        return resumed.length === attempt;
      });
    };
    return { call, resumed, resumeAfter };
  }

  it.each<[string, (stream: ServerResponse) => void]>([
    ['ends', (stream) => void stream.end()],
    ['breaks', (stream) => void stream.destroy()],
  ])('fails at once when the stream of the transport sse %s during a call', async (_, end) => {
    let stream: ServerResponse | undefined;
    const answers: Record<string, object> = {
      initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: SERVER_INFO },
    };
    const server = await serve(async (request, response) => {
      if (request.method === 'GET') {
        stream = response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        stream.write('event: endpoint\ndata: /messages\n\n');
        return;
      }
      const chunks: Uint8Array[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString());
      response.writeHead(202).end();
      const result = answers[method];
      if (result) stream?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
      else if (method === 'tools/call' && stream) end(stream);
    });
    const { connection } = await connect(server, { transport: 'sse' });
    const call = connection.callTool({ tool: toolNamed('find'), input: {} });
    await expect(call).rejects.toMatchObject({ problem: 'unreachable' });
  });

  it('resumes the response to a call after its last event', async () => {
    const answer = { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'late' }] } };
    const { call, resumed, resumeAfter } = await serveBroken((attempt) =>
      attempt === 1 ? 'id: e1\ndata:\n\n' : `id: e2\ndata: ${JSON.stringify(answer)}\n\n`,
    );
    await resumeAfter(1);
    await resumeAfter(2);
    expect(await call).toMatchObject({ content: [{ text: 'late' }] });
    expect(resumed).toEqual(['e0', 'e1']);
  });

  it.each([
    ['ends', 'id: e1\ndata:\n\n'],
    ['is refused', ''],
  ])('resumes the response to a call at most twice when it %s again', async (_, event) => {
    const { call, resumed, resumeAfter } = await serveBroken(() => event);
    await resumeAfter(1);
    await resumeAfter(2);
    expect(await call).toMatchObject({ problem: 'unreachable', isSessionLost: false });
    expect(resumed).toHaveLength(2);
  });

  it('ends a connection attempt at the time limit', async () => {
    let isWaiting = false;
    const server = await serve(() => {
      isWaiting = true;
    });
    const { clock, outbound } = optionsFor(server.port);
    const endpoint = { url: server.url, transport: 'streamable_http', timeoutSeconds: 5 };
    const failed = McpConnection.open(endpoint, { clock, outbound }).catch(({ problem }) => problem);
    await until('the server to be reached', () => isWaiting);
    clock.advance(5_001);
    expect(await failed).toBe('timed_out');
  });
});

/** Answers as a server of 2026-07-28 that has tools, with any list of tools. */
function modernServer(listTools: () => object): RequestListener {
  return async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    modernAnswer(Buffer.concat(chunks).toString() || '{}', response, listTools);
  };
}

function modernAnswer(request: string, response: ServerResponse, listTools: () => object): void {
  const { id, method } = JSON.parse(request);
  const discovered = {
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
    serverInfo: { name: 'hostile', version: '1' },
    ttlMs: 0,
    cacheScope: 'public',
  };
  const body = method === 'server/discover' ? discovered : { ttlMs: 0, cacheScope: 'public', ...listTools() };
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...body } }));
}
