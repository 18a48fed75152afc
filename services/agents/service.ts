import { openSchema } from '../../lib/db/schema.ts';
import { sweepIdempotencyKeys } from '../../lib/db/sweep.ts';
import { createAuditRecorder } from '../../lib/grpc/audit-recorder.ts';
import type { Client, Peers } from '../../lib/grpc/contract.ts';
import { guardService } from '../../lib/grpc/guard.ts';
import { createPeerSealer } from '../../lib/grpc/sealed-for-peer.ts';
import { isId } from '../../lib/ids.ts';
import { createModelTable } from '../../lib/models/table.ts';
import { isPrivateHost } from '../../lib/outbound/private-hosts.ts';
import type { OpenService, ServiceContext } from '../../lib/service.ts';
import { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import type { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import type { AssignmentTarget, VaultsServiceDefinition } from '../../proto/gen/ahs/vaults/v1/vaults.ts';
import { startCatalogueComparison } from './catalogue-comparison.ts';
import type { AgentsConfig } from './config.ts';
import { startDeletionOutbox } from './deletion-outbox.ts';
import { AGENT_KIND, ASSISTANT_KIND } from './domain/agent-kind.ts';
import { accessHandlers } from './handlers/access.ts';
import { agentHandlers } from './handlers/agents.ts';
import { assistantHandlers } from './handlers/assistants.ts';
import type { AgentsHandlerContext } from './handlers/context.ts';
import { environmentHandlers } from './handlers/environments.ts';
import { extensionHandlers } from './handlers/extensions.ts';
import { mcpCatalogueHandlers } from './handlers/mcp-catalogues.ts';
import { mcpProbeHandlers } from './handlers/mcp-probe.ts';
import { mcpServerHandlers } from './handlers/mcp-servers.ts';
import { modelWindowHandlers } from './handlers/model-windows.ts';
import { modelHandlers } from './handlers/models.ts';
import { overrideHandlers } from './handlers/overrides.ts';
import { resolveHandlers } from './handlers/resolve.ts';
import { runnerHandlers } from './handlers/runners.ts';
import { createServerProbe } from './handlers/server-probe.ts';
import { skillVersionHandlers } from './handlers/skill-versions.ts';
import { skillHandlers } from './handlers/skills.ts';
import { versionExtensionHandlers } from './handlers/version-extensions.ts';
import { createUnpack } from './skill-archive/unpack.ts';
import { createAgentStore } from './store/agents.ts';
import { createDeletionStore } from './store/deletions.ts';
import { createEnvironmentStore } from './store/environments.ts';
import { createMcpCatalogueStore } from './store/mcp-catalogues.ts';
import { createMcpComparisonStore } from './store/mcp-comparisons.ts';
import { createMcpServerStore } from './store/mcp-servers.ts';
import { createModelWindowStore } from './store/model-windows.ts';
import { createRunnerStore } from './store/runners.ts';
import { createSkillExtensionStore } from './store/skill-extensions.ts';
import { createSkillTreeStore } from './store/skill-trees.ts';
import { createSkillStore } from './store/skills.ts';
import { createUserDirectory } from './users.ts';

/** The default callers of each RPC. */
export const peers: Peers<AgentsServiceDefinition> = {
  createAgent: ['edge'],
  listAgents: ['edge'],
  getAgent: ['edge', 'deployments'],
  getPublicCard: ['edge'],
  updateAgent: ['edge'],
  deleteAgent: ['edge'],
  listAgentVersions: ['edge'],
  getAgentVersion: ['runner', 'sessions', 'vaults', 'files'],
  resolveAgent: ['sessions', 'deployments'],
  resolveOverrides: ['sessions'],
  lookUpAgents: ['deployments'],
  listManagedAgents: ['deployments'],
  getAgentAccess: ['edge'],
  setAgentAccess: ['edge'],
  getLevel: ['sessions', 'deployments', 'vaults'],
  createAssistant: ['edge'],
  listAssistants: ['edge'],
  getAssistant: ['edge', 'files'],
  updateAssistant: ['edge'],
  deleteAssistant: ['edge'],
  createEnvironment: ['edge'],
  listEnvironments: ['edge'],
  getEnvironment: ['edge', 'vaults'],
  updateEnvironment: ['edge'],
  deleteEnvironment: ['edge'],
  listEnvironmentVersions: ['edge'],
  resolveEnvironment: ['runner'],
  reportRunner: ['runner'],
  listRunners: ['edge'],
  listModels: ['edge'],
  getModelWindow: ['runner', 'sessions'],
  storeModelWindow: ['runner'],
  createMcpServer: ['edge'],
  listMcpServers: ['edge'],
  getMcpServer: ['edge'],
  updateMcpServer: ['edge'],
  deleteMcpServer: ['edge'],
  probeMcpServer: ['edge'],
  getCatalogue: ['edge'],
  reviewCatalogue: ['edge'],
  reportCatalogue: ['runner'],
  lookUpMcpServers: ['runner', 'vaults'],
  listConnectableServers: ['vaults'],
  getCatalogueBody: ['runner'],
  createSkillVersion: ['edge'],
  listSkills: ['edge'],
  getSkill: ['edge'],
  updateSkill: ['edge'],
  deleteSkill: ['edge'],
  listSkillVersions: ['edge'],
  getSkillVersion: ['edge', 'files'],
  listSkillFiles: ['edge'],
  lookUpSkills: ['runner'],
  getVersionExtensions: ['sessions'],
  getExtensions: ['edge'],
  putExtensions: ['edge'],
};

/** Clients of the services that the agents service calls. */
interface AgentsClients {
  files: Pick<Client<FilesServiceDefinition>, 'deleteWorkspace' | 'putSkillTree' | 'deleteSkillTree'>;
  auth: Pick<Client<AuthServiceDefinition>, 'getUser' | 'recordActs'>;
  vaults: Pick<
    Client<VaultsServiceDefinition>,
    'deleteAssignments' | 'getAgentCredentials' | 'probe' | 'putOAuthClient' | 'deleteOAuthClient'
  >;
}

/** Other services cache for at most this long whether a session can start with an agent. */
const CACHE_MS = 1_000;

/** Opens the service for agents with their versions, assistants and environments, after migrating its schema. */
export async function openAgents(
  context: ServiceContext,
  config: AgentsConfig,
  { files, auth, vaults }: AgentsClients,
): Promise<OpenService> {
  const { bus, clock, ids, log } = context;
  const migrations = new URL('migrations', import.meta.url);
  const db = await openSchema({ ...context, schema: 'agents', migrations, pool: config.pool });
  const keySweep = sweepIdempotencyKeys(db, clock, log);
  const workspaces = startDeletionOutbox({
    store: createDeletionStore(db, 'workspaces'),
    keyOf: (agentId) => agentId,
    deleteData: (value, options) =>
      files.deleteWorkspace({ place: { of: { $case: 'assistantId', value } } }, options),
    clock,
    onError: (error) =>
      log.warn(
        { err: error },
        'the workspace of a deleted assistant could not be deleted and will be retried',
      ),
  });
  const assignments = startDeletionOutbox({
    store: createDeletionStore(db, 'assignments'),
    keyOf: (agentId) => agentId,
    deleteData: (agentId, options) => vaults.deleteAssignments({ target: targetOf(agentId) }, options),
    clock,
    onError: (error) =>
      log.warn({ err: error }, 'the vaults of a deleted agent could not be released and will be retried'),
  });
  const skillTrees = createSkillTreeStore(db, clock);
  const trees = startDeletionOutbox({
    store: skillTrees,
    keyOf: ({ workspaceId }) => workspaceId,
    deleteData: (tree, options) => files.deleteSkillTree(tree, options),
    clock,
    onError: (error) =>
      log.warn({ err: error }, 'the files of a deleted skill could not be deleted and will be retried'),
  });
  const limits = { mcpMaxTools: config.mcpMaxTools };
  const handlerContext: AgentsHandlerContext = {
    agents: createAgentStore(db, AGENT_KIND, limits),
    assistants: createAgentStore(db, ASSISTANT_KIND, limits),
    environments: createEnvironmentStore(db),
    runners: createRunnerStore(db),
    modelWindows: createModelWindowStore(db),
    mcpServers: createMcpServerStore(db),
    mcpCatalogues: createMcpCatalogueStore(db),
    skills: createSkillStore(db),
    skillExtensions: createSkillExtensionStore(db),
    skillTrees,
    unpackSkill: createUnpack(clock),
    files,
    users: createUserDirectory(auth),
    vaults,
    peerSealer: createPeerSealer('agents', context.serviceSecret),
    record: createAuditRecorder(auth),
    clock,
    ids,
    endpoints: Object.keys(config.modelEndpoints ?? {}),
    modelTable: config.modelTable ?? createModelTable(),
    isPrivateHost: (host, port) => isPrivateHost(config.outboundPrivateHosts ?? [], host, port),
    publishHint: (channel, id) => bus.publish(channel, id),
    waitForCaches: () => bus.awaitPropagation(CACHE_MS),
    startDeletions() {
      workspaces.request();
      assignments.request();
      trees.request();
    },
  };
  const comparison = startCatalogueComparison({
    ...handlerContext,
    comparisons: createMcpComparisonStore(db),
    probe: createServerProbe(handlerContext),
    log,
  });
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
        ...modelHandlers(handlerContext),
        ...modelWindowHandlers(handlerContext),
        ...mcpServerHandlers(handlerContext),
        ...mcpCatalogueHandlers(handlerContext),
        ...mcpProbeHandlers(handlerContext),
        ...extensionHandlers(handlerContext),
        ...versionExtensionHandlers(handlerContext),
        ...skillHandlers(handlerContext),
        ...skillVersionHandlers(handlerContext),
      },
      peers,
    }),
    check: () => db.check(),
    async stop() {
      await Promise.all([
        keySweep.stop(),
        workspaces.stop(),
        assignments.stop(),
        comparison.stop(),
        trees.stop(),
      ]);
      await db.close();
    },
  };
}

function targetOf(id: string): AssignmentTarget {
  return { of: { $case: isId('ast', id) ? 'assistantId' : 'agentId', value: id } };
}
