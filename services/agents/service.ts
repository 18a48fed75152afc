import { openSchema } from '../../lib/db/schema.ts';
import { sweepIdempotencyKeys } from '../../lib/db/sweep.ts';
import type { Client, Peers } from '../../lib/grpc/contract.ts';
import { guard } from '../../lib/grpc/guard.ts';
import { recorderTo } from '../../lib/grpc/recorder.ts';
import type { OpenService, ServiceContext } from '../../lib/service.ts';
import { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import type { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import type { AgentsConfig } from './config.ts';
import { AGENT, ASSISTANT } from './domain/kind.ts';
import { createHandlers } from './handlers.ts';
import { createDeletionStore } from './store/deletions.ts';
import { createEnvironmentStore } from './store/environments.ts';
import { createAgentStore } from './store.ts';
import { createUsers } from './users.ts';
import { openWorkspaces } from './workspaces.ts';

const peers: Peers<AgentsServiceDefinition> = {
  createAgent: ['edge'],
  listAgents: ['edge'],
  getAgent: ['edge', 'deployments'],
  updateAgent: ['edge'],
  deleteAgent: ['edge'],
  listAgentVersions: ['edge'],
  getAgentVersion: ['runner', 'sessions'],
  resolveAgent: ['sessions', 'deployments'],
  lookUpAgents: ['deployments'],
  listManagedAgents: ['deployments'],
  getAgentAccess: ['edge'],
  setAgentAccess: ['edge'],
  getLevel: ['sessions', 'deployments'],
  createAssistant: ['edge'],
  listAssistants: ['edge'],
  getAssistant: ['edge', 'files'],
  updateAssistant: ['edge'],
  deleteAssistant: ['edge'],
  createEnvironment: ['edge'],
  listEnvironments: ['edge'],
  getEnvironment: ['edge'],
  updateEnvironment: ['edge'],
  deleteEnvironment: ['edge'],
  listEnvironmentVersions: ['edge'],
  resolveEnvironment: ['runner'],
};

/** The services that this one asks. */
export interface Clients {
  files: Pick<Client<FilesServiceDefinition>, 'deleteWorkspace'>;
  auth: Pick<Client<AuthServiceDefinition>, 'getUser' | 'recordActs'>;
}

/** Others keep for at most this long whether an agent may start. */
const KEPT_MS = 1_000;

/**
 * Opens the service that keeps agents with their versions, assistants and environments; its schema is brought up to
 * date first.
 */
export async function openAgents(
  context: ServiceContext,
  config: AgentsConfig,
  { files, auth }: Clients,
): Promise<OpenService> {
  const { bus, clock, ids, log } = context;
  const migrations = new URL('migrations', import.meta.url);
  const db = await openSchema({ ...context, schema: 'agents', migrations, pool: config.pool });
  const keySweep = sweepIdempotencyKeys(db, clock, (error) =>
    log.warn({ err: error }, 'old idempotency keys could not be deleted'),
  );
  const workspaces = openWorkspaces({
    store: createDeletionStore(db),
    files,
    clock,
    onError: (error) => log.warn({ err: error }, 'the workspace of a deleted assistant is still there'),
  });
  const handlers = createHandlers({
    agents: createAgentStore(db, AGENT),
    assistants: createAgentStore(db, ASSISTANT),
    environments: createEnvironmentStore(db),
    users: createUsers(auth),
    record: recorderTo(auth),
    clock,
    ids,
    endpoints: Object.keys(config.modelEndpoints ?? {}),
    hint: (channel, id) => bus.publish(channel, id),
    settle: () => bus.settle(KEPT_MS),
    forget: () => workspaces.forget(),
  });
  return {
    name: 'agents',
    endpoint: guard({
      contract: AgentsServiceDefinition,
      handlers,
      peers,
      secret: context.serviceSecret,
      clock,
      observe: context.observe,
      tracer: context.tracer,
    }),
    check: () => db.check(),
    async stop() {
      await Promise.all([keySweep.stop(), workspaces.stop()]);
      await db.close();
    },
  };
}
