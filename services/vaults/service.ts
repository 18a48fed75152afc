import { hkdfSync } from 'node:crypto';
import { openSchema } from '../../lib/db/schema.ts';
import { sweepIdempotencyKeys } from '../../lib/db/sweep.ts';
import { createAuditRecorder } from '../../lib/grpc/audit-recorder.ts';
import type { Client, Peers } from '../../lib/grpc/contract.ts';
import { guardService } from '../../lib/grpc/guard.ts';
import { createPeerSealer } from '../../lib/grpc/sealed-for-peer.ts';
import { EXTERNAL_PROVIDERS } from '../../lib/model-providers.ts';
import { OutboundClient } from '../../lib/outbound/outbound-client.ts';
import { startPeriodicTask } from '../../lib/periodic-task.ts';
import type { SealingKeySource } from '../../lib/sealing.ts';
import type { OpenService, ServiceContext } from '../../lib/service.ts';
import type { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import type { SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { VaultsServiceDefinition } from '../../proto/gen/ahs/vaults/v1/vaults.ts';
import type { VaultsConfig } from './config.ts';
import { assignmentHandlers } from './handlers/assignments.ts';
import { connectionHandlers } from './handlers/connections.ts';
import type { VaultsHandlerContext } from './handlers/context.ts';
import { credentialTestHandlers } from './handlers/credential-tests.ts';
import { credentialHandlers } from './handlers/credentials.ts';
import { lendingHandlers } from './handlers/lending.ts';
import { oauthClientHandlers } from './handlers/oauth-clients.ts';
import { probeHandlers } from './handlers/probe.ts';
import { rotationHandlers } from './handlers/rotations.ts';
import { sessionCredentialHandlers } from './handlers/session-credentials.ts';
import { vaultHandlers } from './handlers/vaults.ts';
import { openVaultKeys } from './keys/open.ts';
import { openLending } from './lending/open.ts';
import { openOAuth } from './oauth/open.ts';
import { startRotationWorker } from './rotation/worker.ts';
import { createCredentialSealer } from './sealing.ts';
import { createAssignmentStore } from './store/assignments.ts';
import { createCredentialStore } from './store/credentials.ts';
import { createDataKeyStore } from './store/data-keys.ts';
import { createLendableStore } from './store/lendable-credentials.ts';
import { createLendingStore } from './store/lendings.ts';
import { createOAuthStores } from './store/oauth.ts';
import { createRotationStepStore } from './store/rotation-steps.ts';
import { createRotationStore } from './store/rotations.ts';
import { createVaultStore } from './store/vaults.ts';

/** The default callers of each RPC. */
export const peers: Peers<VaultsServiceDefinition> = {
  createVault: ['edge'],
  listVaults: ['edge'],
  getVault: ['edge'],
  updateVault: ['edge'],
  deleteVault: ['edge'],
  createCredential: ['edge'],
  listCredentials: ['edge'],
  getCredential: ['edge'],
  updateCredential: ['edge'],
  deleteCredential: ['edge'],
  testCredential: ['edge'],
  getAssignments: ['edge'],
  putAssignments: ['edge'],
  deleteAssignments: ['agents'],
  beginRotation: ['edge'],
  getRotation: ['edge'],
  probe: ['agents'],
  lend: ['runner'],
  reportRefusal: ['runner'],
  reportEcho: ['runner'],
  getSessionCredentials: ['runner'],
  getAgentCredentials: ['agents'],
  listModelKeyUsers: ['runner'],
  listConnections: ['edge'],
  beginConnection: ['edge'],
  finishConnection: ['edge'],
  updateConnection: ['edge'],
  deleteConnection: ['edge'],
  putOAuthClient: ['agents'],
  deleteOAuthClient: ['agents'],
};

/** Clients of the services that the vaults service calls. */
interface VaultsClients {
  agents: Pick<
    Client<AgentsServiceDefinition>,
    'getAgentVersion' | 'getEnvironment' | 'getLevel' | 'lookUpMcpServers' | 'listConnectableServers'
  >;
  auth: Pick<Client<AuthServiceDefinition>, 'recordActs'>;
  sessions: Pick<Client<SessionsServiceDefinition>, 'checkLease' | 'resolveAuthorizations'>;
}

const DIGEST_KEY_PURPOSE = 'agent-hosting-service digests of requests to vaults v1';
const DIGEST_KEY_BYTES = 32;
/** A replica that has not completed a step for longer than this, not counting calls of a KMS, has ended. */
const STALE_ROTATION_MS = 30_000;
/** A step of a rotation calls a KMS at most this often. */
const KMS_CALLS = 4;
/** A request that assigns vaults to a deleted agent arrives within this time. */
const DELETED_TARGETS_MS = 60 * 60 * 1_000;

/**
 * Opens the service for vaults and credentials, after migrating its schema. `sealingKeys` wrap the keys of vaults unless
 * there is a KMS. Authorization servers redirect browsers to `publicUrl()`, which has no slash at its end. Throws
 * SealingKeyProblem and KmsProblem.
 */
export async function openVaults(
  context: ServiceContext,
  config: VaultsConfig,
  { agents, auth, sessions }: VaultsClients,
  sealingKeys: SealingKeySource,
  publicUrl: () => string,
): Promise<OpenService> {
  const { clock, ids, log, bus, serviceSecret } = context;
  const migrations = new URL('migrations', import.meta.url);
  const db = await openSchema({ ...context, schema: 'vaults', migrations, pool: config.pool });
  const dataKeys = createDataKeyStore(db);
  const opening = dataKeys
    .kekIds()
    .then((storedKekIds) => openVaultKeys({ ...config, sealingKeys, storedKekIds, clock, ids }));
  const keys = await opening.catch(async (error: unknown) => {
    await db.close();
    throw error;
  });
  const worker = ids('rot');
  const steps = createRotationStepStore(db, worker);
  const rotating = startRotationWorker({
    steps,
    keys,
    clock,
    log,
    staleMs: STALE_ROTATION_MS + keyTimeMs(config),
  });
  const assignments = createAssignmentStore(db);
  const keySweep = sweepIdempotencyKeys(db, clock, log);
  const targetSweep = startPeriodicTask({
    clock,
    everyMs: DELETED_TARGETS_MS,
    work: () => assignments.sweep(new Date(clock.now().getTime() - DELETED_TARGETS_MS)),
    onFailure: (error) =>
      log.warn({ err: error }, 'deleted agents could not be removed from the assignments'),
  });
  const digestKey = hkdfSync('sha256', serviceSecret, '', DIGEST_KEY_PURPOSE, DIGEST_KEY_BYTES);
  const outbound = new OutboundClient({ clock, privateHosts: config.outboundPrivateHosts ?? [] });
  const record = createAuditRecorder(auth);
  const publishHint = (id: string) => bus.publish('credentials.changed', id);
  const lendables = createLendableStore(db);
  const vaults = createVaultStore(db);
  const credentials = createCredentialStore(db);
  const sealer = createCredentialSealer(keys, dataKeys, clock);
  const oauth = openOAuth({
    ...context,
    ...{
      stores: createOAuthStores(db),
      outbound,
      keys,
      dataKeys,
      vaults,
      sealer,
      sessions,
      record,
      publishHint,
      publicUrl,
    },
    isPrivateHost: config.isPrivateHost,
  });
  const lending = openLending({
    ...context,
    ...{ lendables, lendings: createLendingStore(db) },
    ...{ agents, sessions, record, keys, publishHint },
    ...{ tokens: oauth.tokens, opener: oauth.opener },
  });
  const handlerContext: VaultsHandlerContext = {
    vaults,
    credentials,
    lendables,
    assignments,
    rotations: createRotationStore(db),
    keys,
    sealer,
    ...oauth.handlers,
    peerSealer: createPeerSealer('vaults', serviceSecret),
    rules: {
      isPrivateHost: config.isPrivateHost,
      modelProviders: [...EXTERNAL_PROVIDERS, ...Object.keys(config.modelEndpoints ?? {})],
    },
    agents,
    record,
    ...{ lender: lending.lender, sessionCredentials: lending.sessionCredentials },
    publishHint,
    clock,
    ids,
    digestKey: new Uint8Array(digestKey),
    worker,
    startRotating: () => rotating.request(),
  };
  return {
    name: 'vaults',
    endpoint: guardService(context, {
      contract: VaultsServiceDefinition,
      handlers: {
        ...vaultHandlers(handlerContext),
        ...credentialHandlers(handlerContext),
        ...credentialTestHandlers(handlerContext),
        ...assignmentHandlers(handlerContext),
        ...rotationHandlers(handlerContext),
        ...probeHandlers(handlerContext),
        ...lendingHandlers(handlerContext),
        ...sessionCredentialHandlers(handlerContext),
        ...connectionHandlers(handlerContext),
        ...oauthClientHandlers(handlerContext),
      },
      peers,
    }),
    check: () => db.check(),
    // Vaults whose data keys are in memory work without it.
    optionalParts:
      config.kmsSocket === undefined ? [] : [{ name: 'key management', check: () => keys.check() }],
    async stop() {
      await Promise.all([
        ...[keySweep.stop(), targetSweep.stop(), rotating.stop(), lending.stop(), oauth.stop()],
        outbound.close(),
      ]);
      keys.close();
      await db.close();
    },
  };
}

/** The longest time in which a step of a rotation waits for a KMS. */
function keyTimeMs({ kmsSocket, kmsTimeoutSeconds }: VaultsConfig): number {
  return kmsSocket === undefined ? 0 : KMS_CALLS * kmsTimeoutSeconds * 1_000;
}
