import type { Call } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { Lease } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type {
  ServerCredentialQuery,
  SessionHost,
  SessionVariable,
} from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { hostCredentials, stateOf, variableCredentials } from '../domain/sandbox-credentials.ts';
import type { VaultKeys } from '../keys/vault-keys.ts';
import type { LendableStore, StoredAssigned } from '../store/lendable-credentials.ts';
import type { TurnAccess } from './turn-access.ts';
import type { TurnCredentials } from './turn-credentials.ts';

interface SessionCredentialsContext {
  access: Pick<TurnAccess, 'requireTurn'>;
  credentials: Pick<TurnCredentials, 'chooseForServers'>;
  lendables: Pick<LendableStore, 'assigned'>;
  keys: Pick<VaultKeys, 'canOpen' | 'placeholder'>;
}

/** The credentials of the vaults of an agent, without secrets. */
interface AgentCredentials {
  hosts: SessionHost[];
  variables: SessionVariable[];
}

/** The session whose MCP servers need credentials. */
interface CredentialSession {
  agentId: string;
  ownerId: string;
  isTriggered: boolean;
}

export type SessionCredentials = ReturnType<typeof createSessionCredentials>;

/** Describes the credentials that sandboxes of an agent can use. Nothing is lent. */
export function createSessionCredentials(context: SessionCredentialsContext) {
  const { access, credentials: choices, lendables, keys } = context;

  /** Whether the key of each vault cannot be opened now. */
  async function sealedVaults(credentials: readonly StoredAssigned[]): Promise<Set<string>> {
    const byVault = new Map(credentials.map(({ vaultId, key }) => [vaultId, key]));
    const sealed = new Set<string>();
    const check = async ([vaultId, key]: [string, StoredAssigned['key']]) => {
      if (!(await keys.canOpen(key))) sealed.add(vaultId);
    };
    await Promise.all([...byVault].map(check));
    return sealed;
  }

  async function read(agentId: string, sessionId: string, call: Call): Promise<AgentCredentials> {
    const kind = isId('ast', agentId) ? 'assistant' : 'agent';
    const credentials = await lendables.assigned({ kind, id: agentId }, call);
    const sealed = await sealedVaults(credentials);
    const shownState = (credential: StoredAssigned) => stateOf(credential, sealed.has(credential.vaultId));
    const placeholderOf = async ({ key, credentialId, isUsable, vaultId }: StoredAssigned, prefix: string) =>
      sessionId === '' || !isUsable || sealed.has(vaultId)
        ? ''
        : prefix + (await keys.placeholder(key, sessionId, credentialId));
    const variables = variableCredentials(credentials).map(async ({ name, rules, credential }) => ({
      ...{ name, credentialId: credential.credentialId, hosts: credential.hosts, rules },
      ...shownState(credential),
      placeholder: await placeholderOf(credential, rules.placeholderPrefix),
    }));
    return {
      hosts: hostCredentials(credentials).map(({ host, headers, credential }) => ({
        ...{ host, headers, credentialId: credential.credentialId },
        ...shownState(credential),
      })),
      variables: await Promise.all(variables),
    };
  }

  return {
    /** The credentials for the sandbox of a turn, with placeholders. Refused with LEASE_LOST. */
    async ofTurn(lease: Lease | undefined, call: Call): Promise<AgentCredentials> {
      const { agentId, sessionId } = await access.requireTurn(lease, call);
      return read(agentId, sessionId, call);
    },

    /** Whether a session has a credential for each MCP server: ready | needs_connection | needs_credential. */
    async serverStates(
      { agentId, ownerId, isTriggered }: CredentialSession,
      servers: readonly ServerCredentialQuery[],
      call: Call,
    ): Promise<string[]> {
      const needs = servers.map(({ mcpServerId, url, authorization }) => ({
        ...{ mcpServerId, url, authorization },
        ...{ kind: 'server' as const, host: new URL(url).host, isEnabled: true },
      }));
      // No turn: its lendings do not matter.
      const session = { turnId: '', agentId, ownerId, isTriggered };
      const found = await choices.chooseForServers(session, needs, call);
      return found.map((choice, index) => {
        if (choice.kind === 'found' || needs[index]?.authorization === 'none') return 'ready';
        return choice.who === 'you' ? 'needs_connection' : 'needs_credential';
      });
    },

    /** The credentials of an agent or assistant, without placeholders. */
    ofAgent(agentId: string, call: Call): Promise<AgentCredentials> {
      return read(agentId, '', call);
    },
  };
}
