import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../../support/context.ts';
import { runOn } from '../../support/sql.ts';
import { OWNER } from './fake-sessions.ts';
import { OTHER_AGENT } from './fake-targets.ts';
import { assignCredentials, host, model, modelKey, variable, variableMembers } from './shared-credentials.ts';
import { openVaultsSystem, refusalOf, type VaultsSystem } from './system.ts';

describe.each(TRANSPORTS)('credentials for sandboxes and models, %s', (transport) => {
  let system: VaultsSystem;
  beforeAll(async () => {
    system = await openVaultsSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());
  beforeEach(() => void system.auditLog.takeActs());

  describe('Lend', () => {
    it('lends the header of a host, and the value of a variable and of a model key', async () => {
      const [bearer, token, key] = await assignCredentials(system, [
        [
          { host: 'api.example.org' },
          variableMembers('GITHUB_TOKEN', ['*.github.test', 'github.test']),
          modelKey('anthropic'),
        ],
      ]);
      const lease = system.leases.lease();
      const needs = [
        host('API.example.org:443'),
        variable('GITHUB_TOKEN', 'api.github.test'),
        model('anthropic'),
        model('openai'),
      ];
      const lent = {
        ...{ generation: 1, source: 'shared', refreshable: false },
        usableUntil: expect.any(Date),
      };
      for (let call = 0; call < 2; call++)
        expect(await system.lendFor(lease, needs)).toEqual([
          {
            credentialId: bearer?.credentialId,
            headers: { Authorization: `Bearer ${bearer?.secret}` },
            ...lent,
          },
          { credentialId: token?.credentialId, value: token?.secret, ...lent },
          { credentialId: key?.credentialId, value: key?.secret, ...lent },
          { reason: 'none', credentialId: '', who: 'administrator' },
        ]);
      const uses = system.leases.uses.filter((use) => use.startsWith(lease.turnId)).toSorted();
      expect(uses).toEqual(
        [
          `${lease.turnId} ${bearer?.credentialId} api.example.org`,
          `${lease.turnId} ${token?.credentialId} api.github.test`,
          `${lease.turnId} ${key?.credentialId} anthropic`,
        ].toSorted(),
      );
      expect(system.auditLog.takeActs()).toHaveLength(3);
    });

    it('chooses by the order of the vaults, then exact hosts, then the longest suffix', async () => {
      const [broad, other, exact, longer, ported] = await assignCredentials(system, [
        [{ host: '*.api.test' }],
        [
          { host: '*.b.example.org' },
          { host: 'a.b.example.org' },
          { host: '*.example.org' },
          { host: 'c.example.org:8443' },
        ],
      ]);
      const chosen = async (name: string) =>
        (await system.lendFor(system.leases.lease(), [host(name)]))[0]?.credentialId;
      expect(await chosen('x.api.test')).toBe(broad?.credentialId);
      expect(await chosen('a.b.example.org')).toBe(exact?.credentialId);
      expect(await chosen('c.example.org')).toBe(longer?.credentialId);
      expect(await chosen('c.example.org:8443')).toBe(ported?.credentialId);
      expect(await chosen('c.b.example.org')).toBe(other?.credentialId);
    });

    it('refuses and audits a host and a variable that the vaults of the agent do not have', async () => {
      await assignCredentials(
        system,
        [[{ host: 'other.example.org' }, variableMembers('TOKEN', ['other.example.org'])]],
        OTHER_AGENT,
      );
      const [, server] = await assignCredentials(system, [
        [
          variableMembers('OWN', ['own.example.org']),
          { mcpServerUrl: 'https://mcp.example.org/', host: undefined },
        ],
      ]);
      expect(server).toBeDefined();
      const lease = system.leases.lease();
      const hosts = [
        host('other.example.org'),
        host('own.example.org'),
        host('mcp.example.org'),
        host('*.org'),
      ];
      const variables = [variable('TOKEN', 'other.example.org'), variable('OWN', 'evil.example.org')];
      for (const need of [...hosts, ...variables])
        expect(await refusalOf(system.lendFor(lease, [need]))).toBe('CREDENTIAL_NOT_FOUND');
      expect(system.auditLog.takeActs()).toEqual([
        'undefined credential.lend ',
        'undefined credential.lend ',
      ]);
      expect(system.auditLog.data.slice(-2)).toMatchObject([
        { reason: 'host_not_in_session' },
        { reason: 'variable_not_in_session' },
      ]);
      expect(system.leases.uses.filter((use) => use.startsWith(lease.turnId))).toEqual([]);
    });

    it('never uses a credential of a host for an MCP server, nor one of a personal vault', async () => {
      const { mcpServerId } = system.targets.addServer({ url: 'https://both.example.org/mcp' });
      const [credential] = await assignCredentials(system, [[{ host: 'both.example.org' }]]);
      expect(await system.lend(system.leases.lease(), mcpServerId)).toMatchObject([{ reason: 'none' }]);
      await runOn(
        system.databaseUrl,
        `update vaults.vaults set kind = 'personal', owner_id = '${OWNER}', name = ''
         where vault_id = '${credential?.vaultId}'`,
      );
      const lending = system.lendFor(system.leases.lease(), [host('both.example.org')]);
      expect(await refusalOf(lending)).toBe('CREDENTIAL_NOT_FOUND');
    });

    it('reports a disabled credential, and uses a later one that is enabled', async () => {
      const [first, second] = await assignCredentials(system, [
        [{ host: 'd.example.org' }],
        [{ host: 'd.example.org' }],
      ]);
      await system.updateCredential(first!, { enabled: false });
      const lend = () => system.lendFor(system.leases.lease(), [host('d.example.org')]);
      expect(await lend()).toMatchObject([{ credentialId: second?.credentialId, source: 'shared' }]);
      await system.updateCredential(second!, { enabled: false });
      expect(await lend()).toMatchObject([{ reason: 'disabled', credentialId: first?.credentialId }]);
    });
  });

  describe('ReportRefusal', () => {
    it('marks a model key, and no credential that programs of a sandbox use', async () => {
      const credentials = await assignCredentials(system, [
        [{ host: 'r.example.org' }, variableMembers('R', ['r.example.org']), modelKey('openai')],
      ]);
      const lease = system.leases.lease();
      const needs = [host('r.example.org'), variable('R', 'r.example.org'), model('openai')];
      const lent = await system.lendFor(lease, needs);
      system.auditLog.takeActs();
      for (const [index, need] of needs.entries()) {
        const { credentialId } = credentials[index]!;
        for (const status of [403, 401, 401])
          expect(await system.reportRefusalFor(lease, need, lent[index]!, status)).toMatchObject({
            ...{ reason: 'refused', credentialId },
          });
        expect(system.auditLog.takeActs()).toEqual([`undefined credential.refuse ${credentialId}`]);
      }
      const after = await system.lendFor(lease, needs);
      expect(after.map(({ reason }) => reason)).toEqual([undefined, undefined, 'refused']);
      const unlent = system.reportRefusalFor(system.leases.lease(), needs[0]!, lent[0]!);
      expect(await refusalOf(unlent)).toBe('CREDENTIAL_NOT_FOUND');
    });
  });

  describe('ReportEcho', () => {
    it('audits an answer with a lent credential once a minute, and refuses one that was not lent for the host', async () => {
      const [credential] = await assignCredentials(system, [[variableMembers('E', ['e.example.org'])]]);
      const credentialId = credential?.credentialId ?? '';
      const lease = system.leases.lease();
      await system.lendFor(lease, [variable('E', 'e.example.org')]);
      system.auditLog.takeActs();
      const report = (host: string, of = lease) =>
        system.runner.reportEcho({ lease: of, credentialId, host });
      for (let call = 0; call < 2; call++) await report('e.example.org');
      expect(system.auditLog.takeActs()).toEqual([`undefined credential.echo ${credentialId}`]);
      expect(await refusalOf(report('other.example.org'))).toBe('CREDENTIAL_NOT_FOUND');
      expect(await refusalOf(report('e.example.org', { ...lease, fence: lease.fence + 1 }))).toBe(
        'LEASE_LOST',
      );
    });
  });
});
