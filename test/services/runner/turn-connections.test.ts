import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { createMcpConnector } from '../../../lib/mcp/open.ts';
import { OutboundClient } from '../../../lib/outbound/outbound-client.ts';
import { RemoteServers } from '../../../services/runner/tools/mcp/remote-server.ts';
import { TurnConnections } from '../../../services/runner/tools/mcp/turn-connections.ts';
import { type McpTestServer, startMcpServer } from '../../support/mcp-server.ts';

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

const turn = {
  lease: { sessionId: 's', turnId: 't', fence: 1 },
  trace: { traceId: '1'.repeat(32), spanId: '1'.repeat(16), sampled: false },
};
const { signal } = new AbortController();

/** The connections of a turn, and a function that returns how many have been opened. */
function openTurn({ port }: McpTestServer) {
  const privateHosts = [{ host: '127.0.0.1', port }];
  const outbound = new OutboundClient({ clock: systemClock, privateHosts });
  stack.defer(() => outbound.close());
  const connect = createMcpConnector(outbound, systemClock);
  let opened = 0;
  const counted: typeof connect = (...options) => {
    opened++;
    return connect(...options);
  };
  const unused = {} as never;
  const connections = new TurnConnections(new RemoteServers(counted, systemClock), unused, systemClock);
  stack.defer(() => connections.close({ isLeaseLost: false }));
  return { connections, opened: () => opened };
}

const endpoint = ({ url }: McpTestServer) => ({
  ...{ mcpServerId: 'mcp_1', name: 'one', url, transport: 'streamable_http', timeoutSeconds: 30 },
});

describe('TurnConnections.exchange', () => {
  it.each([
    ['2026-07-28', false],
    ['2025-11-25', true],
  ])('uses one connection for all calls at a server of %s', async (_, isLegacy) => {
    const server = stack.use(await startMcpServer({ find: {} }, { isLegacy, isStateful: isLegacy }));
    const { connections, opened } = openTurn(server);
    for (let call = 0; call < 3; call++)
      await connections.exchange(endpoint(server), undefined, { turn, signal }, (connection) =>
        connection.callTool({ tool: { name: 'find', input_schema: {} }, input: {}, signal }),
      );
    expect(opened()).toBe(1);
    expect(server.requests.filter((method) => method === 'tools/call')).toHaveLength(3);
  });

  it('opens another connection when the address of the server has changed', async () => {
    const server = stack.use(await startMcpServer({ find: {} }));
    const { connections, opened } = openTurn(server);
    for (const url of [server.url, `${server.url}?moved`, `${server.url}?moved`])
      await connections.exchange({ ...endpoint(server), url }, undefined, { turn, signal }, (connection) =>
        connection.callTool({ tool: { name: 'find', input_schema: {} }, input: {}, signal }),
      );
    expect(opened()).toBe(2);
  });
});
