import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { McpConnection } from '../../lib/mcp/connection.ts';
import { readCatalogue } from '../../lib/mcp-catalogue/catalogue.ts';
import { OutboundClient } from '../../lib/outbound/outbound-client.ts';
import { freePort } from '../support/port.ts';
import { until } from '../support/wait.ts';

const PROGRAM = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);

describe.each([
  ['streamable_http', 'streamableHttp', '/mcp'],
  ['sse', 'sse', '/sse'],
])('the server everything over %s', (transport, argument, path) => {
  let stack: AsyncDisposableStack;
  let open: () => Promise<McpConnection>;

  beforeAll(async () => {
    stack = new AsyncDisposableStack();
    const port = await freePort();
    const child = spawn(process.execPath, [PROGRAM, argument], {
      env: { ...process.env, PORT: String(port) },
      stdio: 'ignore',
    });
    stack.defer(() => void child.kill('SIGKILL'));
    const outbound = new OutboundClient({
      clock: systemClock,
      privateHosts: [{ host: '127.0.0.1', port }],
    });
    stack.defer(() => outbound.close());
    const endpoint = { url: `http://127.0.0.1:${port}${path}`, transport, timeoutSeconds: 20 };
    open = async () => {
      const connection = await McpConnection.open(endpoint, { outbound, clock: systemClock });
      stack.defer(() => connection.close());
      return connection;
    };
    await until('the server accepts connections', async () => {
      const connection = await open().catch(() => undefined);
      await connection?.close();
      return connection !== undefined;
    });
  });
  afterAll(() => stack?.disposeAsync());

  it('speaks 2025-11-25 and lists its tools, prompts and resources', async () => {
    const connection = await open();
    expect(connection.protocolVersion).toBe('2025-11-25');
    const { json, prompts, resourceCount } = await connection.readCatalogue();
    const names = readCatalogue(json).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['echo', 'get-sum']));
    expect(prompts.length).toBeGreaterThan(0);
    expect(resourceCount).toBeGreaterThan(0);
  });

  it('runs a tool and reports its progress', async () => {
    const connection = await open();
    const call = (name: string, input: object, onProgress = () => {}) =>
      connection.callTool({
        tool: { name, input_schema: { type: 'object' } },
        input: { ...input },
        onProgress,
      });
    expect((await call('echo', { message: 'Hello' })).content).toEqual([
      { type: 'text', text: 'Echo: Hello' },
    ]);
    let steps = 0;
    await call('trigger-long-running-operation', { duration: 1, steps: 2 }, () => {
      steps += 1;
    });
    // The last report can arrive together with the result, which ends the call.
    expect(steps).toBeGreaterThan(0);
    expect(await call('get-sum', { a: 'x' })).toMatchObject({ isError: true });
  });
});
