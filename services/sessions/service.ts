import { openSchema } from '../../lib/db/schema.ts';
import { sweepIdempotencyKeys } from '../../lib/db/sweep.ts';
import type { Settings } from '../../lib/env.ts';
import type { Client, Peers } from '../../lib/grpc/contract.ts';
import { guard } from '../../lib/grpc/guard.ts';
import { recorderTo } from '../../lib/grpc/recorder.ts';
import type { OpenService, ServiceContext } from '../../lib/service.ts';
import type { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import type { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { settings } from './config.ts';
import { watchDisabled } from './disabled.ts';
import { createFollower } from './follow.ts';
import { approvalHandlers } from './handlers/approvals.ts';
import { beginningHandlers } from './handlers/beginnings.ts';
import type { HandlerContext } from './handlers/context.ts';
import { createReach } from './handlers/reach.ts';
import { readingHandlers } from './handlers/reading.ts';
import { runningHandlers } from './handlers/running.ts';
import { sandboxHandlers } from './handlers/sandboxes.ts';
import { steeringHandlers } from './handlers/steering.ts';
import { workingHandlers } from './handlers/working.ts';
import { workspaceHandlers } from './handlers/workspaces.ts';
import { createApprovals } from './store/approvals.ts';
import { createChanges } from './store/changes.ts';
import { createClaims } from './store/claims.ts';
import { createCreations } from './store/creations.ts';
import { createEventStore } from './store/events.ts';
import { createForks } from './store/forks.ts';
import { Known } from './store/known.ts';
import { createLists } from './store/lists.ts';
import { createOwners } from './store/owners.ts';
import { createTurnQuota } from './store/quota.ts';
import { createSandboxes } from './store/sandboxes.ts';
import { createTails } from './store/tails.ts';
import { createEraser } from './store/writes.ts';
import { startSweeper } from './sweeper.ts';

const peers: Peers<SessionsServiceDefinition> = {
  createConversation: ['edge'],
  createSession: ['deployments'],
  listSessions: ['edge'],
  getSession: ['edge'],
  updateSession: ['edge'],
  archiveSession: ['edge'],
  deleteSession: ['edge'],
  sendMessage: ['edge'],
  listMessages: ['edge', 'runner'],
  listTurns: ['edge'],
  getTurn: ['edge'],
  listEvents: ['edge'],
  follow: ['edge'],
  listDeploymentSessions: ['deployments'],
  interruptSession: ['edge'],
  forkSession: ['edge'],
  setAgentVersion: ['edge'],
  listApprovals: ['edge'],
  decideApproval: ['edge'],
  claimTurns: ['runner'],
  renewLeases: ['runner'],
  reportTurns: ['runner'],
  locateWorkspace: ['files'],
  appendFileEvents: ['files'],
  takeSandbox: ['runner'],
  reportSandboxes: ['runner'],
  listSandboxes: ['edge'],
  getSandbox: ['edge'],
  terminateSandbox: ['edge'],
};

/** A turn that takes its runner down is given up after this many starts in a row. */
const MAX_ATTEMPTS = 50;

/** The services that this one asks. */
export interface Clients {
  agents: Client<AgentsServiceDefinition>;
  files: Client<FilesServiceDefinition>;
  auth: Pick<Client<AuthServiceDefinition>, 'recordActs' | 'listDisabledUsers'>;
}

export async function openSessions(
  context: ServiceContext,
  config: Settings<typeof settings>,
  clients: Clients,
): Promise<OpenService> {
  const { clock, ids, bus, log } = context;
  const migrations = new URL('migrations', import.meta.url);
  const db = await openSchema({ ...context, schema: 'sessions', migrations, pool: config.pool });
  const leaseMs = config.leaseSeconds * 1_000;
  const limits = { maxFailures: config.maxFailures, maxAttempts: MAX_ATTEMPTS };
  const hints = {
    appended: (sessionId: string) => bus.publish('sessions.appended', sessionId),
    ready: () => bus.publish('turns.ready', ''),
    stopped: (turnId: string) => bus.publish('turns.interrupted', turnId),
  };
  const quota = createTurnQuota(config.quotaTurnsPerDay);
  const store = { db, hints, clock, ids, known: new Known(), quota };
  const changes = createChanges(store);
  const claims = createClaims({ ...store, leaseMs, maxTurnsPerAgent: config.maxTurnsPerAgent });
  const events = createEventStore(db);
  const approvals = createApprovals(db);
  const sandboxes = createSandboxes(db);
  const warn = (error: unknown) => log.warn({ err: error }, 'a probe failed');
  const follower = createFollower({ tails: createTails(db), heads: events.heads, bus, clock, warn });
  const purgeAfterMs = config.purgeAfterSeconds * 1_000;
  const sweeper = startSweeper({
    eraser: createEraser(db),
    approvals,
    changes,
    claims,
    sandboxes,
    files: clients.files,
    clock,
    log,
    limits,
    purgeAfterMs,
  });
  const disabled = watchDisabled({ auth: clients.auth, owners: createOwners(db), changes, clock, log });
  const keySweep = sweepIdempotencyKeys(db, clock, (error) =>
    log.warn({ err: error }, 'old idempotency keys were not deleted'),
  );
  const lists = createLists(db);
  const record = recorderTo(clients.auth);
  const handlers: HandlerContext = {
    clock,
    ids,
    agents: clients.agents,
    files: clients.files,
    sandboxes,
    ended: (sandboxId) => bus.publish('sandboxes.ended', sandboxId),
    changes,
    claims,
    approvals,
    forks: createForks(db, ids),
    creations: createCreations(store),
    lists,
    reach: createReach({ lists, agents: clients.agents, record }),
    record,
    events,
    follower,
    limits,
    leaseMs,
    approvalTtlMs: config.approvalTtlSeconds * 1_000,
  };
  return {
    name: 'sessions',
    endpoint: guard({
      contract: SessionsServiceDefinition,
      handlers: {
        ...beginningHandlers(handlers),
        ...readingHandlers(handlers),
        ...workingHandlers(handlers),
        ...runningHandlers(handlers),
        ...approvalHandlers(handlers),
        ...steeringHandlers(handlers),
        ...workspaceHandlers(handlers),
        ...sandboxHandlers(handlers),
      },
      peers,
      secret: context.serviceSecret,
      clock,
      observe: context.observe,
      tracer: context.tracer,
    }),
    check: () => db.check(),
    async stop() {
      follower.close();
      await Promise.all([keySweep.stop(), sweeper.stop(), disabled.stop()]);
      await db.close();
    },
  };
}
