import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Credential } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { startMcpServer } from '../../support/mcp-server.ts';
import { administrator, newToken, openVaultsSystem, refusalOf, type VaultsSystem } from './system.ts';

describe('TestCredential of a credential for an MCP server', () => {
  let stack = new AsyncDisposableStack();
  afterEach(async () => {
    await stack.disposeAsync();
    stack = new AsyncDisposableStack();
  });

  async function serve(listener: RequestListener) {
    const http = createServer(listener);
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const stop = async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    };
    stack.defer(stop);
    const { port } = http.address() as AddressInfo;
    return { port, url: `http://127.0.0.1:${port}/mcp`, stop };
  }

  /** Opens a system that may reach the server, with a bearer token for it. */
  async function withToken({ url, port }: { url: string; port: number }, token = newToken()) {
    const system = stack.use(
      await openVaultsSystem('in process', { privateHosts: [{ host: '127.0.0.1', port }] }),
    );
    const { vaultId } = await system.createVault();
    const { credential } = await system.createCredential({ vaultId, mcpServerUrl: url }, { token });
    if (!credential) throw new Error('the response has no credential');
    return { system, credential, token };
  }

  const test = (system: VaultsSystem, { vaultId, credentialId }: Credential) =>
    system.edge.testCredential({ vaultId, credentialId }, administrator);

  it.each([false, true])(
    'returns valid when the server accepts it (legacy protocol: %s)',
    async (isLegacy) => {
      const server = stack.use(await startMcpServer({ find: {} }, { isLegacy }));
      const { system, credential, token } = await withToken(server);
      server.authorization = `Bearer ${token}`;
      expect(await test(system, credential)).toMatchObject({ status: 'valid', httpStatus: 200 });
    },
  );

  it('returns refused with the status of a server that rejects it, and never the secret', async () => {
    const server = stack.use(await startMcpServer({}));
    server.authorization = 'Bearer another';
    const { system, credential, token } = await withToken(server);
    const answer = await test(system, credential);
    expect(answer).toMatchObject({ status: 'refused', httpStatus: 401 });
    expect(JSON.stringify([answer, system.lines])).not.toContain(token);
  });

  it('returns unreachable with the status of a broken server, and without one when it does not answer', async () => {
    const server = await serve((_, response) => void response.writeHead(500).end());
    const { system, credential } = await withToken(server);
    expect(await test(system, credential)).toMatchObject({ status: 'unreachable', httpStatus: 500 });
    await server.stop();
    expect(await test(system, credential)).toMatchObject({ status: 'unreachable', httpStatus: undefined });
  });

  it('follows no redirect', async () => {
    const target = await serve((_, response) => void response.writeHead(200).end());
    const server = await serve((_, response) => void response.writeHead(307, { location: target.url }).end());
    const { system, credential } = await withToken(server);
    expect(await test(system, credential)).toMatchObject({ status: 'unreachable' });
  });

  it('tries the deprecated transport when the server does not accept a POST', async () => {
    const server = await serve(
      ({ method }, response) => void response.writeHead(method === 'GET' ? 401 : 405).end(),
    );
    const { system, credential } = await withToken(server);
    expect(await test(system, credential)).toMatchObject({ status: 'refused', httpStatus: 401 });
  });

  it('is audited before the secret is sent', async () => {
    const server = stack.use(await startMcpServer({}));
    const { system, credential } = await withToken(server);
    system.auditLog.failsToRecord = true;
    expect(await refusalOf(test(system, credential))).toBe('DEPENDENCY_UNAVAILABLE');
    expect(server.requests).toEqual([]);
  });
});
