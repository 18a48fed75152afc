import { openSchema } from '../../lib/db/schema.ts';
import { sweepIdempotencyKeys } from '../../lib/db/sweep.ts';
import { createAuditRecorder } from '../../lib/grpc/audit-recorder.ts';
import type { Client, Peers } from '../../lib/grpc/contract.ts';
import { guardService } from '../../lib/grpc/guard.ts';
import type { OpenService, ServiceContext } from '../../lib/service.ts';
import { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import type { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import type { AgentsConfig } from './config.ts';
import { AGENT_KIND, ASSISTANT_KIND } from './domain/agent-kind.ts';
import { accessHandlers } from './handlers/access.ts';
import { agentHandlers } from './handlers/agents.ts';
import { assistantHandlers } from './handlers/assistants.ts';
import type { AgentsHandlerContext } from './handlers/context.ts';
import { environmentHandlers } from './handlers/environments.ts';
import { overrideHandlers } from './handlers/overrides.ts';
import { resolveHandlers } from './handlers/resolve.ts';
import { runnerHandlers } from './handlers/runners.ts';
import { createAgentStore } from './store/agents.ts';
import { createDeletionStore } from './store/deletions.ts';
import { createEnvironmentStore } from './store/environments.ts';
import { createRunnerStore } from './store/runners.ts';
import { createUserDirectory } from './users.ts';
import { startWorkspaceCleanup } from './workspace-cleanup.ts';

/** The default callers of each RPC. */
export const peers: Peers<AgentsServiceDefinition> = {
  createAgent: ['edge'],
  listAgents: ['edge'],
  getAgent: ['edge', 'deployments'],
  updateAgent: ['edge'],
  deleteAgent: ['edge'],
  listAgentVersions: ['edge'],
  getAgentVersion: ['runner', 'sessions'],
  resolveAgent: ['sessions', 'deployments'],
  resolveOverrides: ['sessions'],
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
  reportRunner: ['runner'],
  listRunners: ['edge'],
};

/** Clients of the services that the agents service calls. */
interface AgentsClients {
  files: Pick<Client<FilesServiceDefinition>, 'deleteWorkspace'>;
  auth: Pick<Client<AuthServiceDefinition>, 'getUser' | 'recordActs'>;
}

/** Other services cache for at most this long whether a session can start with an agent. */
const CACHE_MS = 1_000;

/** Opens the service for agents with their versions, assistants and environments, after migrating its schema. */
export async function openAgents(
  context: ServiceContext,
  config: AgentsConfig,
  { files, auth }: AgentsClients,
): Promise<OpenService> {
  const { bus, clock, ids, log } = context;
  const migrations = new URL('migrations', import.meta.url);
  const db = await openSchema({ ...context, schema: 'agents', migrations, pool: config.pool });
  const keySweep = sweepIdempotencyKeys(db, clock, log);
  const workspaces = startWorkspaceCleanup({
    store: createDeletionStore(db),
    files,
    clock,
    onError: (error) =>
      log.warn(
        { err: error },
        'the workspace of a deleted assistant could not be deleted and will be retried',
      ),
  });
  const handlerContext: AgentsHandlerContext = {
    agents: createAgentStore(db, AGENT_KIND),
    assistants: createAgentStore(db, ASSISTANT_KIND),
    environments: createEnvironmentStore(db),
    runners: createRunnerStore(db),
    users: createUserDirectory(auth),
    record: createAuditRecorder(auth),
    clock,
    ids,
    endpoints: Object.keys(config.modelEndpoints ?? {}),
    publishHint: (channel, id) => bus.publish(channel, id),
    waitForCaches: () => bus.awaitPropagation(CACHE_MS),
    cleanUpWorkspaces: () => workspaces.request(),
  };
  return {
    name: 'agents',
    endpoint: guardService(context, {
      contract: AgentsServiceDefinition,
      handlers: {
        ...agentHandlers(handlerContext),
        ...accessHandlers(handlerContext),
        ...assistantHandlers(handlerContext),
        ...environmentHandlers(handlerContext),
        ...resolveHandlers(handlerContext),
        ...overrideHandlers(handlerContext),
        ...runnerHandlers(handlerContext),
      },
      peers,
    }),
    check: () => db.check(),
    async stop() {
      await Promise.all([keySweep.stop(), workspaces.stop()]);
      await db.close();
    },
  };
}
