import { Refusal } from '../../../lib/errors.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import { matchesAnyHost } from '../../../lib/host-patterns.ts';
import { isId } from '../../../lib/ids.ts';
import type { Target } from '../domain/assignment.ts';
import { type SecretContent, secretContent } from '../domain/credential-headers.ts';
import {
  type CredentialChoice,
  type CredentialSource,
  chooseCredential,
  chooseShared,
  DISABLED_SERVER,
  type MissingCredential,
  missingFor,
  NOTHING_SHARED,
  sealedCredential,
} from '../domain/lending.ts';
import type { SecretOpener } from '../oauth/fresh-secrets.ts';
import type { LendableStore, StoredLendable } from '../store/lendable-credentials.ts';
import type { LeasedTurn } from './turn-access.ts';
import type { SharedNeed, TurnNeed, TurnServer } from './turn-need.ts';

type Opened =
  | { kind: 'opened'; source: CredentialSource; credential: StoredLendable; content: SecretContent }
  | { kind: 'missing'; missing: MissingCredential };

export type TurnCredentials = ReturnType<typeof createTurnCredentials>;

/** The session whose MCP servers get credentials. */
interface ServerSession extends Pick<LeasedTurn, 'turnId' | 'ownerId' | 'agentId'> {
  isTriggered: boolean;
}

/** The credential has got another secret since it was read. */
export const CHANGED = Symbol('changed');

/** Chooses and opens the credentials of a turn. Nothing is cached. */
export function createTurnCredentials(lendables: LendableStore, opener: SecretOpener) {
  /** Returns the credential of each server. */
  async function chooseForServers(
    { turnId, ownerId, agentId, isTriggered }: ServerSession,
    servers: readonly TurnServer[],
    call: Call,
  ): Promise<CredentialChoice<StoredLendable>[]> {
    const needsShared = servers.filter(({ authorization }) => SHARED.has(authorization));
    const needsPersonal = servers.filter(({ authorization }) => PERSONAL.has(authorization));
    const owner = { ownerId, isTriggered };
    const [shared, personal] = await Promise.all([
      needsShared.length === 0 ? [] : lendables.shared(turnId, targetOf(agentId), needsShared, call),
      needsPersonal.length === 0 ? [] : lendables.personal(turnId, owner, needsPersonal, call),
    ]);
    return servers.map(({ mcpServerId, url, authorization, isEnabled }) => {
      if (!isEnabled) return { kind: 'missing', ...DISABLED_SERVER };
      return chooseCredential<StoredLendable>(authorization, {
        personal: personal.filter((connection) => connection.mcpServerId === mcpServerId),
        shared: shared.filter(({ mcpServerUrl }) => mcpServerUrl === url),
      });
    });
  }

  /** Returns the shared credential of each host, variable and model provider. */
  async function chooseNamed(
    { turnId, agentId }: LeasedTurn,
    needs: readonly SharedNeed[],
    call: Call,
  ): Promise<CredentialChoice<StoredLendable>[]> {
    if (needs.length === 0) return [];
    const found = await lendables.named(turnId, targetOf(agentId), needs, call);
    return needs.map(({ kind, address }, index) => {
      const choice = chooseShared(found[index] ?? []);
      if (kind !== 'variable' || choice.kind === 'missing' || !address) return choice;
      return matchesAnyHost(choice.credential.hosts, address)
        ? choice
        : { kind: 'missing', ...NOTHING_SHARED };
    });
  }

  /** Returns the credential of each need that the turn uses now. */
  async function choose(
    turn: LeasedTurn,
    needs: readonly TurnNeed[],
    call: Call,
  ): Promise<CredentialChoice<StoredLendable>[]> {
    const servers = needs.filter((need) => need.kind === 'server');
    const named = needs.filter((need) => need.kind !== 'server');
    const [ofServers, ofNamed] = await Promise.all([
      // The owner of such a session is the user who made the deployment, or the sender in a channel. Others can write, too.
      chooseForServers({ ...turn, isTriggered: turn.triggered || turn.deploymentId !== '' }, servers, call),
      chooseNamed(turn, named, call),
    ]);
    const [nextServer, nextNamed] = [ofServers.values(), ofNamed.values()];
    return needs.map(({ kind }) => {
      const { value } = (kind === 'server' ? nextServer : nextNamed).next();
      return value ?? { kind: 'missing', ...NOTHING_SHARED };
    });
  }

  /** Returns the content of a chosen credential. A secret that cannot be opened now is missing. */
  async function open(
    choice: CredentialChoice<StoredLendable>,
    call: Call,
  ): Promise<Opened | typeof CHANGED> {
    if (choice.kind === 'missing') {
      const { kind: _, ...missing } = choice;
      return { kind: 'missing', missing };
    }
    const { source, credential } = choice;
    try {
      const fresh = await opener.open(credential, call);
      if (fresh.kind === 'changed') return CHANGED;
      if (fresh.kind === 'ended')
        return { kind: 'missing', missing: missingFor('expired', credential, source) };
      return { kind: 'opened', source, credential, content: secretContent(credential, fresh.secrets) };
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'VAULT_SEALED') throw error;
      return { kind: 'missing', missing: sealedCredential(credential) };
    }
  }

  return {
    chooseForServers,
    choose,
    open,

    /** Replaces the access token of a credential that its server has refused. */
    refresh: (credential: StoredLendable, call: Call) => opener.refresh(credential, call),
  };
}

/** The values of `authorization` with which credentials of assigned vaults count. */
const SHARED: ReadonlySet<string> = new Set(['shared', 'any']);
/** The values with which credentials of the session's owner count. */
const PERSONAL: ReadonlySet<string> = new Set(['personal', 'any']);

function targetOf(agentId: string): Target {
  return { kind: isId('ast', agentId) ? 'assistant' : 'agent', id: agentId };
}
