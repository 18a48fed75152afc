import { randomBytes } from 'node:crypto';
import { openSchema } from '../../lib/db/schema.ts';
import { openSealer } from '../../lib/db/sealing-check.ts';
import { sweepIdempotencyKeys } from '../../lib/db/sweep.ts';
import type { Settings } from '../../lib/env.ts';
import { createAuditRecorder } from '../../lib/grpc/audit-recorder.ts';
import type { Client, Peers } from '../../lib/grpc/contract.ts';
import { guardService } from '../../lib/grpc/guard.ts';
import { createPeerSealer } from '../../lib/grpc/sealed-for-peer.ts';
import type { SealingKeySource } from '../../lib/sealing.ts';
import { Secret } from '../../lib/secret.ts';
import type { OpenService, ServiceContext } from '../../lib/service.ts';
import type { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import { DeploymentsServiceDefinition } from '../../proto/gen/ahs/deployments/v1/deployments.ts';
import type { SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { CACHE_MAX_AGE_MS, createAdmission } from './admission.ts';
import type { settings } from './config.ts';
import { createDeploymentAccess } from './handlers/access.ts';
import { backfillHandlers } from './handlers/backfills.ts';
import { createDeploymentMessages } from './handlers/deployment-messages.ts';
import { deploymentHandlers } from './handlers/deployments.ts';
import { runHandlers } from './handlers/runs.ts';
import { scheduleHandlers } from './handlers/schedules.ts';
import { createSessionCheck } from './handlers/session-check.ts';
import { createCompiledTimings } from './schedules/compiled-timings.ts';
import { createScheduleChanges } from './schedules/schedule-changes.ts';
import { createScheduleTimes } from './schedules/schedule-times.ts';
import { startScheduler } from './schedules/scheduler.ts';
import { createBackfillStore } from './store/backfills.ts';
import { createDeploymentStore, STORED_SECRET } from './store/deployments.ts';
import { createRefusalStore } from './store/refusals.ts';
import { createRunStore } from './store/runs.ts';
import { createSchedulerStores } from './store/scheduler.ts';
import { createScheduleStore } from './store/schedules.ts';
import { createRefusalLog } from './webhooks/refusals.ts';
import { createTrigger } from './webhooks/trigger.ts';
import { createWebhookCache } from './webhooks/webhook-cache.ts';

/** The default callers of each RPC. */
export const peers: Peers<DeploymentsServiceDefinition> = {
  createDeployment: ['edge'],
  listDeployments: ['edge'],
  getDeployment: ['edge'],
  updateDeployment: ['edge'],
  enableDeployment: ['edge'],
  disableDeployment: ['edge'],
  deleteDeployment: ['edge'],
  listInvocations: ['edge'],
  trigger: ['edge'],
  runNow: ['edge'],
  listRuns: ['edge'],
  getRun: ['edge'],
  replayRun: ['edge'],
  cancelRun: ['edge'],
  listUpcoming: ['edge'],
  previewSchedule: ['edge'],
  createBackfill: ['edge'],
  listBackfills: ['edge'],
  getBackfill: ['edge'],
  deleteBackfill: ['edge'],
};

/** Clients of the services that deployments calls. */
interface DeploymentsClients {
  agents: Client<AgentsServiceDefinition>;
  sessions: Client<SessionsServiceDefinition>;
  auth: Client<AuthServiceDefinition>;
}

const SECRET_BYTES = 32;

/**
 * Opens the service that starts agents through webhooks and on schedules. `sealingKeys` encrypt the shared secrets. Trigger URLs begin
 * with `publicUrl()`, which has no slash at its end. Throws SealingKeyProblem.
 */
export async function openDeployments(
  context: ServiceContext,
  config: Settings<typeof settings>,
  { agents, sessions, auth }: DeploymentsClients,
  sealingKeys: SealingKeySource,
  publicUrl: () => string,
): Promise<OpenService> {
  const { clock, ids, bus, log } = context;
  const migrations = new URL('migrations', import.meta.url);
  const db = await openSchema({ ...context, schema: 'deployments', migrations, pool: config.pool });
  const sealer = await openSealer(db, sealingKeys, STORED_SECRET).catch(async (error: unknown) => {
    await db.close();
    throw error;
  });
  const store = { ...createDeploymentStore(db), ...createRefusalStore(db) };
  const keySweep = sweepIdempotencyKeys(db, clock, log);
  const record = createAuditRecorder(auth);
  const admission = createAdmission({ agents, auth, bus, clock });
  const webhooks = createWebhookCache({ store, sealer, bus, clock });
  const refusals = createRefusalLog({ clock, ids, log, write: store.add });

  async function announce(deploymentId: string): Promise<void> {
    bus.publish('deployments.changed', deploymentId);
    await bus.awaitPropagation(CACHE_MAX_AGE_MS);
  }

  function newSecret(deploymentId: string) {
    const shared = `whsec_${randomBytes(SECRET_BYTES).toString('base64url')}`;
    return { shared: new Secret(shared), sealed: sealer.seal(shared, deploymentId) };
  }

  const { windowSeconds, maxBodyBytes } = config;
  const results = context.metrics.counter({
    name: 'ahs_trigger_invocations_total',
    help: 'Requests to webhooks by result: accepted, or the reason of the refusal.',
    labels: ['result'],
  });
  results.labels('accepted').inc(0);
  const trigger = createTrigger({
    webhooks,
    admission,
    sessions,
    refusals,
    clock,
    ids,
    windowSeconds,
    maxBodyBytes,
    count: (result) => results.labels(result).inc(),
  });
  const schedules = createScheduleStore(db);
  const runs = createRunStore(db);
  const timings = createCompiledTimings();
  const times = createScheduleTimes({ timings, clock });
  const scheduler = startScheduler(context, config, {
    ...{ agents, sessions, admission, timings, times },
    stores: createSchedulerStores(db),
  });
  const handlerContext = {
    ...{ store, schedules, runs, times, agents, sessions, record, clock, ids, newSecret, announce },
    backfills: createBackfillStore(db),
    access: createDeploymentAccess({ store, schedules, agents, record }),
    messages: createDeploymentMessages({ agents, schedules, runs, times, publicUrl }),
    changes: createScheduleChanges({ times, clock }),
    sessionCheck: createSessionCheck({ admission, sessions }),
    limits: { minIntervalSeconds: config.scheduleMinIntervalSeconds },
    sealer: createPeerSealer('deployments', context.serviceSecret),
    wakeTickers: (deploymentId: string) => bus.publish('schedules.changed', deploymentId),
    fireDue: scheduler.fireDue,
    interruptRun: scheduler.interruptRun,
  };
  return {
    name: 'deployments',
    endpoint: guardService(context, {
      contract: DeploymentsServiceDefinition,
      handlers: {
        ...deploymentHandlers(handlerContext),
        ...scheduleHandlers(handlerContext),
        ...runHandlers(handlerContext),
        ...backfillHandlers(handlerContext),
        trigger,
      },
      peers,
    }),
    check: () => db.check(),
    async stop() {
      admission.close();
      webhooks.close();
      await Promise.all([keySweep.stop(), refusals.stop(), scheduler.stop()]);
      await db.close();
    },
  };
}
