import type { Caller, CallOptions } from '../../../lib/grpc/contract.ts';
import { createPeerSealer, type SealedForPeer, secretsIn } from '../../../lib/grpc/sealed-for-peer.ts';
import { createLog } from '../../../lib/log.ts';
import { isPrivateHost } from '../../../lib/outbound/private-hosts.ts';
import type { SecretJson } from '../../../lib/secret-json.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { type Lease, SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import {
  type CreateCredentialRequest,
  type CreateCredentialResponse,
  type CreateVaultRequest,
  type Credential,
  type CredentialNeed,
  type LendResult,
  type UpdateCredentialRequest,
  type Vault,
  VaultsServiceDefinition,
} from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { openVaults } from '../../../services/vaults/service.ts';
import { connect, createContext, type TransportName } from '../../support/context.ts';
import { createDatabase } from '../../support/database.ts';
import { FakeAuth } from '../../support/fake-auth.ts';
import { fakeService } from '../../support/fake-service.ts';
import { FakeSessions } from './fake-sessions.ts';
import { FakeTargets } from './fake-targets.ts';

const caller = (letter: string, role: string): { caller: Caller } => ({
  caller: { userId: `usr_${letter.repeat(26)}`, roles: [role] },
});

/** Call options of two administrators and a member. */
export const administrator = caller('R', 'administrator');
export const otherAdministrator = caller('S', 'administrator');
export const member = caller('A', 'member');

/** The origin of the service for browsers. */
export const PUBLIC_URL = 'http://127.0.0.1:8080';

export const UNKNOWN_VAULT = 'vlt_01M7XYC91CC5TE06JQWDWRTJVA';

export const SEALING_KEY = 'the sealing key of the services under test';
const CONFIG = {
  pool: 4,
  kmsTimeoutSeconds: 5,
  modelEndpoints: { local: 'http://127.0.0.1:1/v1' },
};

interface SystemOptions extends Partial<ServiceContext> {
  /** Opens a second replica on this database. */
  databaseUrl?: string;
  /** The fakes of another replica. */
  neighbours?: { targets: FakeTargets; sessions: FakeSessions; auditLog: FakeAuth };
  /** SERVICE_OUTBOUND_PRIVATE_HOSTS, beside mcp.internal.example:8443. */
  privateHosts?: readonly { host: string; port: number }[];
  /** Returns the port through which clients call the service. */
  callThrough?: (port: number) => Promise<number>;
  /** SERVICE_KMS_SOCKET. */
  kmsSocket?: string | undefined;
  /** SERVICE_SEALING_KEY. Without it, the service creates a key on an empty database. */
  sealingKey?: string | undefined;
}

/** Opens the vaults service on its own database, behind the transport under test. */
export async function openVaultsSystem(transport: TransportName, options: SystemOptions = {}) {
  await using opening = new AsyncDisposableStack();
  const { databaseUrl, sealingKey = SEALING_KEY, neighbours, kmsSocket, ...rest } = options;
  const { privateHosts = [], callThrough, ...overrides } = rest;
  const outboundPrivateHosts = [{ host: 'mcp.internal.example', port: 8443 }, ...privateHosts];
  const config = {
    ...{ ...CONFIG, kmsSocket, outboundPrivateHosts },
    isPrivateHost: (host: string, port: number) => isPrivateHost(outboundPrivateHosts, host, port),
  };
  const url = databaseUrl ?? opening.use(await createDatabase()).url;
  const lines: string[] = [];
  const log = createLog({ level: 'debug', destination: { write: (line) => void lines.push(line) } });
  const context = createContext(url, {
    log,
    observe: ({ cause, request: _, ...observation }) => log.info({ err: cause, ...observation }),
    ...overrides,
  });
  const auditLog = neighbours?.auditLog ?? new FakeAuth();
  const auth = fakeService(AuthServiceDefinition, { recordActs: auditLog.recordActs }, 'vaults', context);
  const targets = neighbours?.targets ?? new FakeTargets();
  const agents = fakeService(AgentsServiceDefinition, targets.handlers, 'vaults', context);
  const leases = neighbours?.sessions ?? new FakeSessions();
  const sessions = fakeService(SessionsServiceDefinition, leases.handlers, 'vaults', context);
  const sealingKeys = { read: async () => sealingKey, create: async () => SEALING_KEY };
  const service = await openVaults(
    context,
    config,
    { agents, auth, sessions },
    sealingKeys,
    () => PUBLIC_URL,
  );
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= service.stop();
    return stopped;
  };
  opening.defer(stop);
  const connection = opening.use(
    await connect(VaultsServiceDefinition, service.endpoint, transport, context, callThrough),
  );
  const edge = connection.as('edge');
  const runner = connection.as('runner');
  const runnerSealer = createPeerSealer('runner', context.serviceSecret);
  const peerSealer = createPeerSealer('edge', context.serviceSecret);
  const sealFor = (
    method: 'createCredential' | 'updateCredential',
    secrets: Record<string, SecretJson>,
    requestId: string,
  ) => peerSealer.seal(secrets, { contract: VaultsServiceDefinition, method, peer: 'vaults', requestId });
  async function createCredential(
    members: Partial<CreateCredentialRequest> & { vaultId: string },
    secrets: Record<string, SecretJson>,
    by: CallOptions = administrator,
  ): Promise<CreateCredentialResponse> {
    const requestId = context.ids('req');
    const secret = sealFor('createCredential', secrets, requestId);
    return edge.createCredential({ ...credentialRequest(members), secret }, { requestId, ...by });
  }
  /** Returns the members of a result, with opened headers. */
  function openResult(
    of: LendResult | undefined,
    method: 'lend' | 'reportRefusal',
    requestId: string,
  ): OpenedResult {
    if (of?.result?.$case !== 'lent') {
      const { scopes = [], ...missing } = of?.result?.value ?? {};
      return { ...missing, ...(scopes.length > 0 && { scopes }) };
    }
    const { headers, value, ...lent } = of.result.value;
    const call = { contract: VaultsServiceDefinition, method, peer: 'vaults', requestId };
    const opened = (sealed: SealedForPeer) => {
      const entries = Object.entries(secretsIn(runnerSealer.open(sealed, call)));
      return Object.fromEntries(entries.map(([name, secret]) => [name, secret.reveal()]));
    };
    return { ...lent, ...(headers && { headers: opened(headers) }), ...(value && opened(value)) };
  }
  const needOf = (mcpServerId: string): CredentialNeed => ({
    target: { $case: 'mcpServerId', value: mcpServerId },
  });
  /** Lends credentials to a turn. */
  async function lendFor(lease: Lease | undefined, needs: CredentialNeed[]): Promise<OpenedResult[]> {
    const requestId = context.ids('req');
    const { results } = await runner.lend({ lease, needs }, { requestId });
    return results.map((result) => openResult(result, 'lend', requestId));
  }
  /** Reports that a credential was refused, with status 401. */
  async function reportRefusalFor(
    lease: Lease,
    need: CredentialNeed,
    { credentialId = '', generation = 0 }: OpenedResult,
    status = 401,
    wwwAuthenticate = '',
  ): Promise<OpenedResult> {
    const requestId = context.ids('req');
    const { result } = await runner.reportRefusal(
      { lease, need, credentialId, generation, status, wwwAuthenticate },
      { requestId },
    );
    return openResult(result, 'reportRefusal', requestId);
  }
  const stack = opening.move();
  return {
    context,
    connection,
    edge,
    auditLog,
    targets,
    leases,
    neighbours: { targets, sessions: leases, auditLog },
    runner,
    needOf,
    lines,
    databaseUrl: url,
    stop,
    /** Creates a shared vault. */
    async createVault(members: Partial<CreateVaultRequest> = {}, by = administrator): Promise<Vault> {
      const { vault } = await edge.createVault(vaultRequest(members), by);
      if (!vault) throw new Error('the response has no vault');
      return vault;
    },
    /** Creates a credential whose request has the members of `credentialRequest` and these secrets. */
    createCredential,
    /** Creates a bearer token. */
    async createToken(vaultId: string, token = newToken()): Promise<Credential> {
      const { credential } = await createCredential({ vaultId }, { token });
      if (!credential) throw new Error('the response has no credential');
      return credential;
    },
    updateCredential(
      credential: Pick<Credential, 'vaultId' | 'credentialId'>,
      members: Partial<UpdateCredentialRequest>,
      secrets?: Record<string, SecretJson>,
      by: CallOptions = administrator,
    ) {
      const { vaultId, credentialId } = credential;
      const requestId = context.ids('req');
      const secret = secrets && sealFor('updateCredential', secrets, requestId);
      const request = { vaultId, credentialId, ifRevisions: undefined, ...members, secret };
      return edge.updateCredential(request, { requestId, ...by });
    },
    /** Creates a vault with a bearer token for an MCP server, and assigns it to an agent. */
    async assignToken(url: string, agentId: string, token = newToken()) {
      const { vault } = await edge.createVault(vaultRequest(), administrator);
      const vaultId = vault?.vaultId ?? '';
      const { credential } = await createCredential({ vaultId, mcpServerUrl: url }, { token });
      if (!credential) throw new Error('the response has no credential');
      await edge.putAssignments(
        {
          target: { of: { $case: 'agentId', value: agentId } },
          vaultIds: [vaultId],
          ifRevisions: undefined,
        },
        administrator,
      );
      return { ...credential, token };
    },
    /** Lends credentials for MCP servers to a turn. */
    lend(lease: Lease | undefined, ...mcpServerIds: string[]): Promise<OpenedResult[]> {
      return lendFor(lease, mcpServerIds.map(needOf));
    },
    lendFor,
    /** Reports that a server refused a credential, with status 401. */
    reportRefusal: (lease: Lease, mcpServerId: string, lent: OpenedResult, status = 401, challenge = '') =>
      reportRefusalFor(lease, needOf(mcpServerId), lent, status, challenge),
    reportRefusalFor,
    /** Tests a credential. Returns its status, or the code of the refusal. */
    async test({ vaultId, credentialId }: Pick<Credential, 'vaultId' | 'credentialId'>): Promise<string> {
      const answer = edge.testCredential({ vaultId, credentialId }, administrator);
      return answer.then(
        ({ status }) => status,
        ({ code }: { code: string }) => code,
      );
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** The members of a lent or of a missing credential. */
export interface OpenedResult {
  credentialId?: string;
  generation?: number;
  headers?: Record<string, string>;
  value?: string;
  source?: string;
  usableUntil?: Date | undefined;
  reason?: string;
  who?: string;
  scopes?: string[];
}

export type VaultsSystem = Awaited<ReturnType<typeof openVaultsSystem>>;

let names = 0;

/** A valid request with a name of its own. */
export function vaultRequest(members: Partial<CreateVaultRequest> = {}): CreateVaultRequest {
  names += 1;
  return { name: `Vault ${names}`, description: '', enabled: true, idempotencyKey: '', ...members };
}

let tokens = 0;

/** A token of 24 characters. */
export function newToken(): string {
  tokens += 1;
  return `token-${String(tokens).padStart(18, '0')}`;
}

/** A valid request for a bearer token of a host, without its secret. */
export function credentialRequest(
  members: Partial<CreateCredentialRequest> & { vaultId: string },
): CreateCredentialRequest {
  return {
    label: '',
    type: 'bearer',
    allowedHosts: [],
    public: undefined,
    secret: undefined,
    expiresAt: undefined,
    idempotencyKey: '',
    ...('mcpServerUrl' in members || 'host' in members ? {} : { host: 'api.example.org' }),
    ...members,
  };
}

/** Returns the code of a refusal with its pointers, or OK. */
export function refusalOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'OK',
    ({ code, details = [] }: { code: string; details?: { pointer: string }[] }) =>
      [code, ...details.map(({ pointer }) => pointer)].join(' '),
  );
}
