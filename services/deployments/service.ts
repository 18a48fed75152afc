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
import { createRefreshBots } from './channels/bot-fingerprints.ts';
import { createChannelChanges } from './channels/channel-changes.ts';
import { createChannelReader } from './channels/channel-reader.ts';
import { createChannelSealing } from './channels/channel-sealing.ts';
import { createChannelWork } from './channels/channel-work.ts';
import { createConnectionClaims } from './channels/connection-claims.ts';
import { createConnectionReports } from './channels/connection-reports.ts';
import { startConnectionUpkeep } from './channels/connection-upkeep.ts';
import { openInbox } from './channels/open-inbox.ts';
import { createMovePlaces } from './channels/place-moves.ts';
import { createProbes } from './channels/probes.ts';
import { createVerification } from './channels/verification.ts';
import type { settings } from './config.ts';
import { createDeploymentAccess } from './handlers/access.ts';
import { backfillHandlers } from './handlers/backfills.ts';
import { callbackUrlOf } from './handlers/channels/channel-messages.ts';
import { connectionHandlers } from './handlers/channels/connections.ts';
import { inboxHandlers } from './handlers/channels/inbox.ts';
import { linkHandlers } from './handlers/channels/links.ts';
import { channelManagementHandlers } from './handlers/channels/management.ts';
import { postHandlers } from './handlers/channels/posts.ts';
import { channelWorkHandlers } from './handlers/channels/work.ts';
import { creationHandlers } from './handlers/creation.ts';
import { createDeploymentMessages } from './handlers/deployment-messages.ts';
import { deploymentHandlers } from './handlers/deployments.ts';
import { runHandlers } from './handlers/runs.ts';
import { scheduleHandlers } from './handlers/schedules.ts';
import { createSessionCheck } from './handlers/session-check.ts';
import { updateHandlers } from './handlers/updates.ts';
import { createCompiledTimings } from './schedules/compiled-timings.ts';
import { createScheduleChanges } from './schedules/schedule-changes.ts';
import { createScheduleTimes } from './schedules/schedule-times.ts';
import { startScheduler } from './schedules/scheduler.ts';
import { createBackfillStore } from './store/backfills.ts';
import { createBotFingerprintStore } from './store/bot-fingerprints.ts';
import { STORED_CREDENTIALS } from './store/channel-rows.ts';
import { createChannelWorkStores } from './store/channel-work-stores.ts';
import { createChannelStore } from './store/channels.ts';
import { createConnectionLeaseStore } from './store/connection-leases.ts';
import { createConnectionStore } from './store/connections.ts';
import { createDeliveryStore } from './store/deliveries.ts';
import { createDeliveryRetentionStore } from './store/delivery-retention.ts';
import { createDeploymentStore, STORED_SECRET } from './store/deployments.ts';
import { createProbeStore } from './store/probes.ts';
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
  receiveCallback: ['edge'],
  pullPosts: ['edge'],
  probeChannel: ['edge'],
  getChannelSetup: ['edge'],
  listDeliveries: ['edge'],
  listConversations: ['edge'],
  listPosts: ['edge'],
  resendPost: ['edge'],
  listLinks: ['edge'],
  deleteLink: ['edge'],
  getLinkCode: ['edge'],
  confirmLink: ['edge'],
  listChannelWorkers: ['edge'],
  claimWork: ['channels'],
  renewLeases: ['channels'],
  releaseLease: ['channels'],
  acceptEvents: ['channels'],
  reportConnection: ['channels'],
  finishDelivery: ['channels'],
  decideFromChannel: ['channels'],
  notePosts: ['channels'],
  reportProbe: ['channels'],
};

/** Clients of the services that deployments calls. */
interface DeploymentsClients {
  agents: Client<AgentsServiceDefinition>;
  sessions: Client<SessionsServiceDefinition>;
  auth: Client<AuthServiceDefinition>;
}

const SECRET_BYTES = 32;

/**
 * Opens the service that starts agents through webhooks, on schedules and by messages. `sealingKeys` encrypt shared secrets
 * and the credentials of bots. Trigger and callback URLs begin with `publicUrl()`, which has no slash at its end. Throws
 * SealingKeyProblem.
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
  const storedSecrets = [STORED_SECRET, ...STORED_CREDENTIALS];
  const sealer = await openSealer(db, sealingKeys, storedSecrets).catch(async (error: unknown) => {
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
  const channels = createChannelStore(db);
  const connections = createConnectionStore(db);
  const probeStore = createProbeStore(db);
  const channelSealing = createChannelSealing(sealer, context.serviceSecret);
  const channelReader = createChannelReader({ store: channels, sealing: channelSealing, bus, clock });
  const leases = createConnectionLeaseStore(db);
  const claims = createConnectionClaims({ leases, probes: probeStore, sealing: channelSealing });
  const upkeep = startConnectionUpkeep({ store: connections, metrics: context.metrics, clock, log });
  const peerSealer = createPeerSealer('deployments', context.serviceSecret);
  const verification = createVerification();
  const deliveries = createDeliveryStore(db);
  const workStores = createChannelWorkStores(db);
  const movePlaces = createMovePlaces(workStores.movedPlaces, bus);
  const inbox = openInbox(context, {
    ...{ channels: channelReader, sealing: channelSealing, sealer: peerSealer, verification, deliveries },
    movePlaces,
    posts: workStores.posts,
    retention: createDeliveryRetentionStore(db),
    historyDays: config.runHistoryDays,
  });
  const channelWork = createChannelWork(context, {
    ...{ agents, auth, sessions, admission, channelReader, claims, record, publicUrl, verification, inbox },
    stores: workStores,
    movePlaces,
    sealer: peerSealer,
    callbackUrl: (deploymentId) => callbackUrlOf(publicUrl(), deploymentId),
  });
  const schedules = createScheduleStore(db);
  const runs = createRunStore(db);
  const timings = createCompiledTimings();
  const times = createScheduleTimes({ timings, clock });
  const scheduler = startScheduler(context, config, {
    ...{ agents, sessions, admission, timings, times },
    stores: createSchedulerStores(db),
    engageConversations: channelWork.engageConversations,
  });
  const handlerContext = {
    ...{ store, schedules, runs, times, agents, sessions, record, clock, ids, newSecret, announce },
    ...{ channels, connections, channelReader, channelSealing, claims, publicUrl, ...channelWork },
    probes: createProbes({ store: probeStore, bus, clock, ids }),
    channelChanges: createChannelChanges({ sealing: channelSealing, clock }),
    refreshBots: createRefreshBots({ store: createBotFingerprintStore(db), sealing: channelSealing }),
    reportConnection: createConnectionReports({ ...context, store: connections, sealing: channelSealing }),
    ...{ verification, deliveries, inbox },
    backfills: createBackfillStore(db),
    access: createDeploymentAccess({ store, schedules, channels, agents, record }),
    messages: createDeploymentMessages({
      ...{ agents, schedules, runs, times, channels, connections, clock, publicUrl },
    }),
    changes: createScheduleChanges({ times, clock }),
    sessionCheck: createSessionCheck({ admission, sessions }),
    limits: { minIntervalSeconds: config.scheduleMinIntervalSeconds },
    sealer: peerSealer,
    wakeTickers: (deploymentId: string) => bus.publish('schedules.changed', deploymentId),
    wakeWorkers: (deploymentId: string) => bus.publish('channels.changed', deploymentId),
    fireDue: scheduler.fireDue,
    interruptRun: scheduler.interruptRun,
  };
  return {
    name: 'deployments',
    endpoint: guardService(context, {
      contract: DeploymentsServiceDefinition,
      handlers: {
        ...creationHandlers(handlerContext),
        ...deploymentHandlers(handlerContext),
        ...updateHandlers(handlerContext),
        ...scheduleHandlers(handlerContext),
        ...runHandlers(handlerContext),
        ...backfillHandlers(handlerContext),
        ...channelManagementHandlers(handlerContext),
        ...connectionHandlers(handlerContext),
        ...inboxHandlers(handlerContext),
        ...channelWorkHandlers(handlerContext),
        ...postHandlers(handlerContext),
        ...linkHandlers(handlerContext),
        trigger,
      },
      peers,
    }),
    check: () => db.check(),
    optionalParts: [{ name: 'channel worker', check: channelWork.workerPresence.check }],
    async stop() {
      admission.close();
      webhooks.close();
      channelReader.close();
      await channelWork.close();
      await Promise.all([keySweep, refusals, inbox, scheduler, upkeep].map((part) => part.stop()));
      await db.close();
    },
  };
}
