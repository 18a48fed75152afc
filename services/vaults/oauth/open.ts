import type { AuditRecorder } from '../../../lib/grpc/audit-recorder.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import { createMcpConnector } from '../../../lib/mcp/open.ts';
import type { OutboundClient } from '../../../lib/outbound/outbound-client.ts';
import { startPeriodicTask } from '../../../lib/periodic-task.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { VaultKeys } from '../keys/vault-keys.ts';
import type { CredentialSealer } from '../sealing.ts';
import type { DataKeyStore } from '../store/data-keys.ts';
import type { OAuthStores } from '../store/oauth.ts';
import type { VaultStore } from '../store/vaults.ts';
import { createConnecting } from './connecting.ts';
import { createDisconnect } from './disconnect.ts';
import { createAuthorizationDiscovery } from './discovery.ts';
import { createSecretOpener } from './fresh-secrets.ts';
import { createIssuerClients } from './issuer-clients.ts';
import { createSavedConnections } from './saved-connections.ts';
import { createServiceSecrets } from './service-secrets.ts';
import { createTokenCheck } from './token-check.ts';
import { createTokenRefresher } from './token-refresher.ts';
import { createTokenRequests } from './token-requests.ts';

interface OAuthOptions extends Pick<ServiceContext, 'bus' | 'clock' | 'ids' | 'log'> {
  stores: OAuthStores;
  outbound: OutboundClient;
  keys: Pick<VaultKeys, 'open'>;
  dataKeys: DataKeyStore;
  vaults: VaultStore;
  sealer: CredentialSealer;
  sessions: Pick<Client<SessionsServiceDefinition>, 'resolveAuthorizations'>;
  record: AuditRecorder;
  publishHint: (credentialId: string) => void;
  /** Whether outbound requests may reach a private host of this port, over http, too. */
  isPrivateHost: (host: string, port: number) => boolean;
  /** The origin of this service for browsers, without a slash at its end. */
  publicUrl: () => string;
}

const SWEEP_INTERVAL_MS = 10 * 60_000;

/** Opens the connections of users and the refresh of their tokens. */
export function openOAuth(options: OAuthOptions) {
  const { stores, outbound, clock, log } = options;
  const { attempts, connections, tokens } = stores;
  const requests = createTokenRequests(outbound, clock);
  const secrets = createServiceSecrets(options);
  const issuerClients = createIssuerClients({ ...options, secrets, store: stores.clients });
  const discoverAuthorization = createAuthorizationDiscovery(outbound, clock);
  const connectMcp = createMcpConnector(outbound, clock);
  const refresher = createTokenRefresher({ ...options, requests, store: tokens });
  const opener = createSecretOpener({ ...options, refresher });
  const sweep = startPeriodicTask({
    clock,
    everyMs: SWEEP_INTERVAL_MS,
    work: () => attempts.sweep(clock.now()),
    onFailure: (error) => log.warn({ err: error }, 'ended attempts to connect could not be removed'),
  });
  return {
    tokens,
    opener,
    handlers: {
      ...{ connections, issuerClients, discoverAuthorization, connectMcp, opener },
      connecting: createConnecting({
        ...{ ...options, attempts, secrets, requests, discoverAuthorization },
        clients: issuerClients,
      }),
      savedConnections: createSavedConnections({ ...options, connections }),
      disconnect: createDisconnect({ ...options, connections, requests }),
      tokenCheck: createTokenCheck(connectMcp),
    },
    stop: () => sweep.stop(),
  };
}
