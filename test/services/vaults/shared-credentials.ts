import type { CreateCredentialRequest, CredentialNeed } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { AGENT } from './fake-targets.ts';
import { administrator, newToken, type VaultsSystem } from './system.ts';

export const host = (value: string): CredentialNeed => ({ target: { $case: 'host', value } });
export const variable = (name: string, of: string): CredentialNeed => ({
  target: { $case: 'variable', value: { name, host: of } },
});
export const model = (value: string): CredentialNeed => ({ target: { $case: 'modelProvider', value } });

/** The members of an environment variable that a sandbox uses as a bearer token. */
export const variableMembers = (name: string, allowedHosts: string[], placeholderPrefix = '') => ({
  type: 'environment_variable',
  host: undefined,
  allowedHosts,
  public: {
    of: {
      $case: 'environmentVariable' as const,
      value: {
        ...{ name, methods: ['GET'], pathPrefixes: ['/repos'], placeholderPrefix },
        inject: { headers: ['authorization'], basic: true, query: [] },
      },
    },
  },
});

export const modelKey = (provider: string) => ({
  type: 'model_key',
  host: undefined,
  public: { of: { $case: 'modelKey' as const, value: { provider } } },
});

/** Creates vaults with credentials and assigns them to the agent in this order. Returns the credentials. */
export async function assignCredentials(
  system: VaultsSystem,
  vaults: Partial<CreateCredentialRequest>[][],
  agentId = AGENT,
) {
  const created = [];
  const vaultIds = [];
  for (const credentials of vaults) {
    const { vaultId } = await system.createVault();
    vaultIds.push(vaultId);
    for (const members of credentials) {
      const secret = newToken();
      const member = { environment_variable: 'value', model_key: 'key' }[members.type ?? ''] ?? 'token';
      const answer = await system.createCredential({ vaultId, ...members }, { [member]: secret });
      created.push({ ...answer.credential!, secret });
    }
  }
  await system.edge.putAssignments(
    { target: { of: { $case: 'agentId', value: agentId } }, vaultIds, ifRevisions: undefined },
    administrator,
  );
  system.auditLog.takeActs();
  return created;
}
