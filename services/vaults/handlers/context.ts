import type { Clock } from '../../../lib/clock.ts';
import type { AuditRecorder } from '../../../lib/grpc/audit-recorder.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { PeerSealer } from '../../../lib/grpc/sealed-for-peer.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { ConnectMcp } from '../../../lib/mcp/open.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { CredentialRules } from '../domain/credential-form.ts';
import type { VaultKeys } from '../keys/vault-keys.ts';
import type { Lender } from '../lending/lender.ts';
import type { SessionCredentials } from '../lending/session-credentials.ts';
import type { Connecting } from '../oauth/connecting.ts';
import type { Disconnect } from '../oauth/disconnect.ts';
import type { DiscoverAuthorization } from '../oauth/discovery.ts';
import type { SecretOpener } from '../oauth/fresh-secrets.ts';
import type { IssuerClients } from '../oauth/issuer-clients.ts';
import type { SavedConnections } from '../oauth/saved-connections.ts';
import type { TokenCheck } from '../oauth/token-check.ts';
import type { CredentialSealer } from '../sealing.ts';
import type { AssignmentStore } from '../store/assignments.ts';
import type { ConnectionStore } from '../store/connections.ts';
import type { CredentialStore } from '../store/credentials.ts';
import type { LendableStore } from '../store/lendable-credentials.ts';
import type { RotationStore } from '../store/rotations.ts';
import type { VaultStore } from '../store/vaults.ts';

/** The dependencies of the handlers. */
export interface VaultsHandlerContext {
  vaults: VaultStore;
  credentials: CredentialStore;
  lendables: LendableStore;
  assignments: AssignmentStore;
  rotations: RotationStore;
  keys: Pick<VaultKeys, 'open' | 'currentKekId'>;
  sealer: CredentialSealer;
  /** Opens secret members of requests. */
  peerSealer: PeerSealer;
  rules: CredentialRules;
  /** The name of this replica among the workers of rotations. */
  worker: string;
  /** Starts work on the running rotation. */
  startRotating: () => void;
  agents: Pick<
    Client<AgentsServiceDefinition>,
    'getAgentVersion' | 'getEnvironment' | 'getLevel' | 'lookUpMcpServers' | 'listConnectableServers'
  >;
  connections: ConnectionStore;
  connecting: Connecting;
  savedConnections: SavedConnections;
  disconnect: Disconnect;
  tokenCheck: TokenCheck;
  issuerClients: IssuerClients;
  /** Writes an entry of the audit log before the action. */
  record: AuditRecorder;
  connectMcp: ConnectMcp;
  /** Opens secrets with usable access tokens. */
  opener: SecretOpener;
  lender: Lender;
  sessionCredentials: SessionCredentials;
  /** Tells other processes that a lent credential may have ended. The id is that of a credential, vault, agent or assistant. */
  publishHint: (id: string) => void;
  discoverAuthorization: DiscoverAuthorization;
  clock: Clock;
  ids: Ids;
  /** The key of the digests of requests with an Idempotency-Key. */
  digestKey: Uint8Array;
}
