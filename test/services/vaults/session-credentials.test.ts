import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../../support/context.ts';
import { runOn } from '../../support/sql.ts';
import { AGENT, OTHER_AGENT } from './fake-targets.ts';
import { assignCredentials, modelKey, variableMembers } from './shared-credentials.ts';
import { newToken, openVaultsSystem, refusalOf, type VaultsSystem } from './system.ts';

const NO_SERVERS = { servers: [], ownerId: '', isTriggered: false };

describe.each(TRANSPORTS)('credentials of sessions and agents, %s', (transport) => {
  let system: VaultsSystem;
  beforeAll(async () => {
    system = await openVaultsSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());
  beforeEach(() => void system.auditLog.takeActs());

  describe('GetSessionCredentials', () => {
    const read = (lease = system.leases.lease()) => system.runner.getSessionCredentials({ lease });

    it('describes hosts in the order in which they count, and variables with placeholders', async () => {
      const [wide, exact, narrow, first] = await assignCredentials(system, [
        [{ host: '*.example.org' }, { host: 'a.example.org' }, { host: '*.b.example.org' }],
        [
          variableMembers('TOKEN', ['api.example.com'], 'ghp_'),
          { host: 'a.example.org', type: 'bearer' },
          variableMembers('ANOTHER', ['api.example.com']),
        ],
        [
          variableMembers('TOKEN', ['later.example.com']),
          { mcpServerUrl: 'https://x.example/', host: undefined },
        ],
      ]);
      const lease = system.leases.lease();
      const { hosts, variables } = await read(lease);
      const ready = { headers: ['authorization'], state: 'ready', reason: '' };
      expect(hosts).toEqual([
        { host: 'a.example.org', credentialId: exact?.credentialId, ...ready },
        { host: '*.b.example.org', credentialId: narrow?.credentialId, ...ready },
        { host: '*.example.org', credentialId: wide?.credentialId, ...ready },
      ]);
      expect(variables.map(({ name }) => name)).toEqual(['ANOTHER', 'TOKEN']);
      expect(variables[1]).toEqual({
        ...{ name: 'TOKEN', credentialId: first?.credentialId, hosts: ['api.example.com'] },
        ...{ rules: first?.public?.of?.value, state: 'ready', reason: '' },
        placeholder: expect.stringMatching(/^ghp_[0-9a-f]{32}$/),
      });
      expect(system.auditLog.takeActs()).toEqual([]);
      const placeholders = (of: typeof variables) => of.map(({ placeholder }) => placeholder);
      expect(placeholders((await read(lease)).variables)).toEqual(placeholders(variables));
      const others = placeholders((await read()).variables);
      expect(new Set([...placeholders(variables), ...others]).size).toBe(4);
    });

    it('keeps the placeholder when the secret changes', async () => {
      const [token] = await assignCredentials(system, [[variableMembers('STAYS', ['api.example.com'])]]);
      const lease = system.leases.lease();
      const before = await read(lease);
      await system.updateCredential(token!, {}, { value: newToken() });
      expect(await read(lease)).toEqual(before);
    });

    it('says which credentials are disabled, refused or sealed', async () => {
      const [disabled, refused, sealed] = await assignCredentials(system, [
        [variableMembers('DISABLED', ['a.example.com']), variableMembers('REFUSED', ['a.example.com'])],
        [variableMembers('SEALED', ['a.example.com']), { host: 'sealed.example.com' }],
      ]);
      await system.updateCredential(disabled!, { enabled: false });
      await runOn(
        system.databaseUrl,
        `update vaults.credentials set status = 'refused', status_reason = 'It was refused.'
         where credential_id = '${refused?.credentialId}'`,
      );
      await runOn(
        system.databaseUrl,
        `update vaults.data_keys set wrapped = '\\x00' where vault_id = '${sealed?.vaultId}'`,
      );
      const { hosts, variables } = await read();
      expect(variables.map(({ name, state, placeholder }) => [name, state, placeholder !== ''])).toEqual([
        ['DISABLED', 'disabled', false],
        ['REFUSED', 'refused', true],
        ['SEALED', 'vault_sealed', false],
      ]);
      expect(variables.map(({ reason }) => reason)).toEqual([
        'The credential or its vault is disabled.',
        'It was refused.',
        'The key of the vault cannot be opened now.',
      ]);
      expect(hosts).toMatchObject([{ host: 'sealed.example.com', state: 'vault_sealed' }]);
    });

    it('refuses a lease that ended', async () => {
      const lease = system.leases.lease();
      system.leases.end(lease);
      expect(await refusalOf(read(lease))).toBe('LEASE_LOST');
    });
  });

  describe('GetAgentCredentials', () => {
    it('describes the credentials of an agent without placeholders', async () => {
      await assignCredentials(system, [
        [{ host: 'a.example.org' }, variableMembers('TOKEN', ['b.example.org']), modelKey('openai')],
      ]);
      const agents = system.connection.as('agents');
      expect(await agents.getAgentCredentials({ agentId: AGENT, ...NO_SERVERS })).toMatchObject({
        hosts: [{ host: 'a.example.org', state: 'ready' }],
        variables: [{ name: 'TOKEN', hosts: ['b.example.org'], state: 'ready', placeholder: '' }],
      });
      const unknown = await agents.getAgentCredentials({ agentId: 'agt_unknown', ...NO_SERVERS });
      expect(unknown).toEqual({ hosts: [], variables: [], serverStates: [] });
    });
  });

  describe('ListModelKeyUsers', () => {
    it('names the agents with enabled model keys in enabled vaults, and the providers', async () => {
      const [, , disabled] = await assignCredentials(system, [
        [modelKey('openai'), modelKey('anthropic')],
        [modelKey('local'), modelKey('openai')],
      ]);
      await assignCredentials(system, [[{ host: 'a.example.org' }]], OTHER_AGENT);
      await system.updateCredential(disabled!, { enabled: false });
      const list = () => system.runner.listModelKeyUsers({});
      expect(await list()).toEqual({
        users: [{ agentId: AGENT, providers: ['anthropic', 'openai'] }],
        isComplete: true,
      });
      await assignCredentials(system, []);
      expect(await list()).toEqual({ users: [], isComplete: true });
    });
  });
});
