import { systemRandom } from '../../lib/backoff.ts';
import { openSchema } from '../../lib/db/schema.ts';
import { sweepIdempotencyKeys } from '../../lib/db/sweep.ts';
import type { Settings } from '../../lib/env.ts';
import { createAuditRecorder } from '../../lib/grpc/audit-recorder.ts';
import type { Client, Peers } from '../../lib/grpc/contract.ts';
import { guardService } from '../../lib/grpc/guard.ts';
import type { OpenService, ServiceContext } from '../../lib/service.ts';
import type { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import type { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { createAttachments } from './attachments.ts';
import { createAuthorizationResolver } from './authorization-resolver.ts';
import { Claims } from './claims.ts';
import type { settings } from './config.ts';
import { monitorDisabledUsers } from './disabled-users.ts';
import { createFollowers } from './followers.ts';
import { handBackTurns } from './hand-back.ts';
import { approvalHandlers } from './handlers/approvals.ts';
import { chatHandlers } from './handlers/chats.ts';
import { compactHandlers } from './handlers/compact.ts';
import type { SessionsHandlerContext } from './handlers/context.ts';
import { creationHandlers } from './handlers/create.ts';
import { extensionHandlers } from './handlers/extensions.ts';
import { forkHandlers } from './handlers/fork.ts';
import { leaseHandlers } from './handlers/leases.ts';
import { lifecycleHandlers } from './handlers/lifecycle.ts';
import { messageHandlers } from './handlers/messages.ts';
import { queryHandlers } from './handlers/queries.ts';
import { regenerateHandlers } from './handlers/regenerate.ts';
import { runnerHandlers } from './handlers/runner-rpcs.ts';
import { sandboxHandlers } from './handlers/sandboxes.ts';
import { createSessionAccess } from './handlers/session-access.ts';
import { contextHandlers } from './handlers/session-context.ts';
import { signalHandlers } from './handlers/signals.ts';
import { toolCallHandlers } from './handlers/tool-calls.ts';
import { turnControlHandlers } from './handlers/turn-control.ts';
import { createUnmadeSessions } from './handlers/unmade-session.ts';
import { workspaceHandlers } from './handlers/workspaces.ts';
import { createSessionCounters, startGauges } from './metrics.ts';
import { createStateSealer } from './state-sealer.ts';
import { createApprovals } from './store/approvals.ts';
import { createChanges } from './store/changes.ts';
import { createChatStore } from './store/chats.ts';
import { createClientCalls } from './store/client-calls.ts';
import { createContextStore } from './store/context.ts';
import { createCreations } from './store/creations.ts';
import { createEventStore } from './store/events.ts';
import { createSessionForks } from './store/forks.ts';
import { createLeaseStore } from './store/leases.ts';
import { createLists } from './store/lists.ts';
import { createOwnerQueries } from './store/owners.ts';
import { createTurnQuota } from './store/quota.ts';
import { createSandboxStore } from './store/sandboxes.ts';
import { SessionStateCache } from './store/session-state-cache.ts';
import { createEraser } from './store/session-updates.ts';
import { createSignalledTurns } from './store/signalled-turns.ts';
import { createSignalStore } from './store/signals.ts';
import { createTails } from './store/tails.ts';
import { createTurnQueue } from './store/turn-queue.ts';
import { createWorkMeasure } from './store/work.ts';
import { startSweeper } from './sweeper.ts';
import { TurnWaits } from './turn-waits.ts';

/** The default callers of each RPC. */
export const peers: Peers<SessionsServiceDefinition> = {
  createConversation: ['edge'],
  createSession: ['deployments', 'channels'],
  listSessions: ['edge'],
  getSession: ['edge', 'deployments', 'channels'],
  updateSession: ['edge'],
  archiveSession: ['edge'],
  deleteSession: ['edge'],
  sendMessage: ['edge', 'deployments', 'channels'],
  listMessages: ['edge', 'runner'],
  listTurns: ['edge', 'channels'],
  getTurn: ['edge', 'channels'],
  listEvents: ['edge', 'channels'],
  follow: ['edge', 'channels'],
  listDeploymentSessions: ['deployments'],
  lookUpTurns: ['deployments'],
  claimSignals: ['deployments'],
  ackSignals: ['deployments'],
  interruptSession: ['edge', 'deployments', 'channels'],
  releaseQueue: ['edge'],
  cancelTurn: ['edge', 'channels'],
  regenerateAnswer: ['edge'],
  compactSession: ['edge'],
  getSessionContext: ['edge'],
  forkSession: ['edge'],
  recordChat: ['edge'],
  findChat: ['edge'],
  continueChat: ['edge'],
  forgetChat: ['edge'],
  setAgentVersion: ['edge'],
  listApprovals: ['edge', 'channels', 'deployments'],
  decideApproval: ['edge', 'deployments'],
  resolveAuthorizations: ['vaults'],
  listToolCalls: ['edge'],
  submitToolResult: ['edge'],
  claimTurns: ['runner'],
  renewLeases: ['runner'],
  reportTurns: ['runner'],
  deliverMessages: ['runner'],
  checkLease: ['vaults'],
  getSessionExtensions: ['edge'],
  locateWorkspace: ['files'],
  appendFileEvents: ['files'],
  listReferencedParts: ['files'],
  takeSandbox: ['runner'],
  reportSandboxes: ['runner'],
  listSandboxes: ['edge'],
  getSandbox: ['edge'],
  terminateSandbox: ['edge'],
};

/** A turn that was started this often without progress fails, because it may crash its runners. */
const MAX_ATTEMPTS = 50;

/** Clients of the services that this one calls. */
interface SessionsClients {
  agents: Client<AgentsServiceDefinition>;
  files: Client<FilesServiceDefinition>;
  auth: Pick<Client<AuthServiceDefinition>, 'recordActs' | 'listDisabledUsers'>;
}

export async function openSessions(
  context: ServiceContext,
  config: Settings<typeof settings>,
  clients: SessionsClients,
): Promise<OpenService> {
  const { clock, ids, bus, log } = context;
  const migrations = new URL('migrations', import.meta.url);
  const db = await openSchema({ ...context, schema: 'sessions', migrations, pool: config.pool });
  const leaseMs = config.leaseSeconds * 1_000;
  const { random = systemRandom } = context;
  const limits = { maxFailures: config.maxFailures, maxAttempts: MAX_ATTEMPTS, random };
  const hints = {
    appended: (sessionId: string) => bus.publish('sessions.appended', sessionId),
    ready: () => bus.publish('turns.ready', ''),
    signalled: () => bus.publish('sessions.signals', ''),
    steered: (turnId: string) => bus.publish('turns.steered', turnId),
    stopped: (turnId: string) => bus.publish('turns.interrupted', turnId),
  };
  const quota = createTurnQuota(config.quotaTurnsPerDay);
  const counters = createSessionCounters(context.metrics);
  const fullAgents = new Set<string>();
  const stateCache = new SessionStateCache();
  const store = { db, hints, clock, ids, stateCache, quota, counters, fullAgents };
  const changes = createChanges(store);
  const leases = createLeaseStore({ db, clock, leaseMs });
  const turnQueue = createTurnQueue({
    ...store,
    leaseMs,
    maxTurnsPerAgent: config.maxTurnsPerAgent,
    warn: (error) =>
      log.warn({ err: error }, 'messages of claimed turns could not be read; the runner reads them'),
  });
  const events = createEventStore(db);
  const claims = new Claims({
    turnQueue,
    messagesOf: events.messagesOf,
    handBack: (turns) => handBackTurns(turns, { changes, clock, limits }),
    bus,
    clock,
    warn: (error) =>
      log.warn({ err: error }, 'turns of a runner that left were not handed back; their leases will expire'),
  });
  const approvals = createApprovals(db);
  const clientCalls = createClientCalls(db);
  const sandboxes = createSandboxStore(db);
  const signals = createSignalStore(db);
  const chats = createChatStore(db);
  const warnProbe = (error: unknown) =>
    log.warn({ err: error }, 'reading the last events of followed sessions failed; trying again');
  const followers = createFollowers({
    tails: createTails(db),
    headsAfter: events.headsAfter,
    bus,
    clock,
    warn: warnProbe,
  });
  const turnWaits = new TurnWaits({ bus, clock });
  const purgeAfterMs = config.purgeAfterSeconds * 1_000;
  const sweeper = startSweeper({
    eraser: createEraser(db),
    approvals,
    clientCalls,
    changes,
    turnQueue,
    leases,
    sandboxes,
    signals,
    chats,
    files: clients.files,
    counters,
    clock,
    log,
    limits,
    purgeAfterMs,
  });
  const gauges = startGauges({
    measure: createWorkMeasure(db),
    countFollowers: () => followers.count(),
    metrics: context.metrics,
    clock,
    log,
  });
  const disabled = monitorDisabledUsers({
    auth: clients.auth,
    owners: createOwnerQueries(db),
    changes,
    clock,
    log,
  });
  const keySweep = sweepIdempotencyKeys(db, clock, log);
  const lists = createLists(db);
  const record = createAuditRecorder(clients.auth);
  const resolver = createAuthorizationResolver({ approvals, changes, clock, log });
  const handlers: SessionsHandlerContext = {
    clock,
    ids,
    agents: clients.agents,
    files: clients.files,
    sandboxes,
    reservedSpace: context.reservedSpace ?? { use: (operation) => operation() },
    publishSandboxEnd: (sandboxId) => bus.publish('sandboxes.ended', sandboxId),
    changes,
    claims,
    leases,
    approvals,
    clientCalls,
    forks: createSessionForks(db, ids),
    chats,
    creations: createCreations(store),
    contexts: createContextStore(db),
    lists,
    attachments: createAttachments(clients),
    unmadeSessions: createUnmadeSessions({ files: clients.files, lists }),
    access: createSessionAccess({ lists, agents: clients.agents, record }),
    record,
    signals,
    signalledTurns: createSignalledTurns(db),
    events,
    followers,
    turnWaits,
    limits,
    leaseMs,
    approvalTtlMs: config.approvalTtlSeconds * 1_000,
    resolver,
    stateSealer: createStateSealer(context.serviceSecret, (error, approvalId) =>
      log.error(
        { err: error, approval_id: approvalId },
        'the state of a call cannot be opened; its tool gets an empty one',
      ),
    ),
  };
  return {
    name: 'sessions',
    endpoint: guardService(context, {
      contract: SessionsServiceDefinition,
      handlers: {
        ...creationHandlers(handlers),
        ...queryHandlers(handlers),
        ...messageHandlers(handlers),
        ...runnerHandlers(handlers),
        ...leaseHandlers(handlers),
        ...approvalHandlers(handlers),
        ...toolCallHandlers(handlers),
        ...turnControlHandlers(handlers),
        ...regenerateHandlers(handlers),
        ...compactHandlers(handlers),
        ...contextHandlers(handlers),
        ...lifecycleHandlers(handlers),
        ...forkHandlers(handlers),
        ...chatHandlers(handlers),
        ...extensionHandlers(handlers),
        ...workspaceHandlers(handlers),
        ...sandboxHandlers(handlers),
        ...signalHandlers(handlers),
      },
      peers,
    }),
    check: () => db.check(),
    drain() {
      turnWaits.drain();
      return claims.drain();
    },
    async stop() {
      followers.close();
      turnWaits.close();
      resolver.close();
      await claims.drain();
      await Promise.all([keySweep.stop(), sweeper.stop(), disabled.stop(), gauges.stop()]);
      await db.close();
    },
  };
}
