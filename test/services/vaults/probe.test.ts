import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type McpTestServer, startMcpServer } from '../../support/mcp-server.ts';
import { runOn } from '../../support/sql.ts';
import { AGENT } from './fake-targets.ts';
import { administrator, newToken, openVaultsSystem, type VaultsSystem } from './system.ts';

describe('Probe with any shared credential', () => {
  const stack = new AsyncDisposableStack();
  let server: McpTestServer;
  let system: VaultsSystem;
  beforeAll(async () => {
    server = stack.use(await startMcpServer({ find: { description: 'Finds.' } }));
    const privateHosts = [{ host: '127.0.0.1', port: server.port }];
    system = stack.use(await openVaultsSystem('in process', { privateHosts }));
  });
  afterAll(() => stack.disposeAsync());

  /** Returns whether the server was reached, or the code of the refusal. */
  const probe = () =>
    system.connection
      .as('agents')
      .probe({
        ...{ mcpServerId: '', url: server.url, transport: 'streamable_http', credentialId: '' },
        ...{ timeoutSeconds: 20, anyShared: true },
      })
      .then(
        ({ reachable }) => reachable,
        ({ code }: { code: string }) => code,
      );

  it('uses an active credential of an assigned vault, and no other', async () => {
    const { vaultId } = await system.createVault();
    const token = newToken();
    server.authorization = `Bearer ${token}`;
    const { credential } = await system.createCredential({ vaultId, mcpServerUrl: server.url }, { token });
    expect(await probe()).toBe('CREDENTIAL_NOT_FOUND');
    const target = { of: { $case: 'agentId' as const, value: AGENT } };
    await system.edge.putAssignments({ target, vaultIds: [vaultId], ifRevisions: undefined }, administrator);
    expect(await probe()).toBe(true);
    const setStatus = (status: string) =>
      runOn(system.databaseUrl, `update vaults.credentials set status = '${status}'`);
    await setStatus('refused');
    expect(await probe()).toBe('CREDENTIAL_NOT_FOUND');
    await setStatus('active');
    await system.updateCredential(credential!, { enabled: false });
    expect(await probe()).toBe('CREDENTIAL_NOT_FOUND');
  });
});
