import { randomBytes } from 'node:crypto';
import { openSchema } from '../../lib/db/schema.ts';
import { sweepIdempotencyKeys } from '../../lib/db/sweep.ts';
import type { Settings } from '../../lib/env.ts';
import type { Client, Peers } from '../../lib/grpc/contract.ts';
import { guard } from '../../lib/grpc/guard.ts';
import { recorderTo } from '../../lib/grpc/recorder.ts';
import type { Sealer } from '../../lib/sealing.ts';
import type { OpenService, ServiceContext } from '../../lib/service.ts';
import type { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import { DeploymentsServiceDefinition } from '../../proto/gen/ahs/deployments/v1/deployments.ts';
import type { SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { createAdmission, MAX_AGE_MS } from './admission.ts';
import type { settings } from './config.ts';
import { createHandlers } from './handlers.ts';
import { createRefusalLog } from './refusals.ts';
import { createDeploymentStore } from './store/deployments.ts';
import { createRefusalStore } from './store/refusals.ts';
import { createTrigger } from './trigger.ts';

const peers: Peers<DeploymentsServiceDefinition> = {
  createDeployment: ['edge'],
  listDeployments: ['edge'],
  getDeployment: ['edge'],
  updateDeployment: ['edge'],
  enableDeployment: ['edge'],
  disableDeployment: ['edge'],
  deleteDeployment: ['edge'],
  listInvocations: ['edge'],
  trigger: ['edge'],
};

/** The services that this one asks. */
export interface Clients {
  agents: Client<AgentsServiceDefinition>;
  sessions: Client<SessionsServiceDefinition>;
  auth: Client<AuthServiceDefinition>;
}

const SECRET_BYTES = 32;

/**
 * Opens the service that starts agents from outside. Shared secrets are kept sealed by `sealer`; trigger URLs
 * begin with `publicUrl()`, which ends without a slash.
 */
export async function openDeployments(
  context: ServiceContext,
  config: Settings<typeof settings>,
  { agents, sessions, auth }: Clients,
  sealer: Sealer,
  publicUrl: () => string,
): Promise<OpenService> {
  const { clock, ids, bus, log } = context;
  const migrations = new URL('migrations', import.meta.url);
  const db = await openSchema({ ...context, schema: 'deployments', migrations, pool: config.pool });
  const store = { ...createDeploymentStore(db), ...createRefusalStore(db) };
  const keySweep = sweepIdempotencyKeys(db, clock, (error) =>
    log.warn({ err: error }, 'old idempotency keys could not be deleted'),
  );
  const record = recorderTo(auth);
  const admission = createAdmission({ store, sealer, agents, auth, bus, clock });
  const refusals = createRefusalLog({ clock, ids, log, write: store.add });

  async function announce(deploymentId: string): Promise<void> {
    bus.publish('deployments.changed', deploymentId);
    await bus.settle(MAX_AGE_MS);
  }

  function newSecret(deploymentId: string) {
    const shared = `whsec_${randomBytes(SECRET_BYTES).toString('base64url')}`;
    return { shared, sealed: sealer.seal(shared, deploymentId) };
  }

  const { windowSeconds, maxBodyBytes } = config;
  const trigger = createTrigger({ admission, sessions, refusals, clock, ids, windowSeconds, maxBodyBytes });
  return {
    name: 'deployments',
    endpoint: guard({
      contract: DeploymentsServiceDefinition,
      handlers: {
        ...createHandlers({ store, agents, sessions, record, clock, ids, newSecret, publicUrl, announce }),
        trigger,
      },
      peers,
      secret: context.serviceSecret,
      clock,
      observe: context.observe,
      tracer: context.tracer,
    }),
    check: () => db.check(),
    async stop() {
      admission.close();
      await Promise.all([keySweep.stop(), refusals.stop()]);
      await db.close();
    },
  };
}
