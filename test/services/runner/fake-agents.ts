import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { guard } from '../../../lib/grpc/guard.ts';
import type { Endpoint } from '../../../lib/grpc/transport.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import {
  type AgentRuntime,
  AgentsServiceDefinition,
  type Environment,
  type EnvironmentSpec,
  type McpServerRuntime,
  type ReportCatalogueRequest,
  type ReportRunnerRequest,
} from '../../../proto/gen/ahs/agents/v1/agents.ts';

/** The agents service in memory: the versions of one agent and one environment. */
export interface FakeAgents {
  endpoint: Endpoint;
  /** Returns the number of the new version. */
  add(runtime: Partial<AgentRuntime>): number;
  /** Number of GetAgentVersion requests. */
  versionRequests: number;
  /** All ReportRunner requests, in order. */
  runnerReports: ReportRunnerRequest[];
  /** Changes the environment and increments its version. */
  changeEnvironment(spec: Partial<EnvironmentSpec>, more?: Partial<Environment>): void;
  /** The MCP servers and their catalogues by SHA-256. Tests change them at any time. */
  mcpServers: McpServerRuntime[];
  catalogues: Map<string, string>;
  /** Number of LookUpMcpServers requests. */
  lookUps: number;
  /** All ReportCatalogue requests, in order. */
  reportedCatalogues: ReportCatalogueRequest[];
  /** The windows that runners have stored, by model. */
  modelWindows: Map<string, number>;
  /** While set, GetAgentVersion fails with DEPENDENCY_UNAVAILABLE. */
  isUnavailable: boolean;
}

const peers = {
  ...Object.fromEntries(Object.keys(AgentsServiceDefinition.methods).map((name) => [name, []])),
  getAgentVersion: ['runner'],
  resolveEnvironment: ['runner'],
  reportRunner: ['runner'],
  getModelWindow: ['runner'],
  storeModelWindow: ['runner'],
  lookUpMcpServers: ['runner'],
  getCatalogueBody: ['runner'],
  lookUpSkills: ['runner'],
  reportCatalogue: ['runner'],
};

export function createFakeAgents(context: ServiceContext): FakeAgents {
  const versions: AgentRuntime[] = [];
  let environment: Environment = {
    environmentId: 'env_00000000000000000000000001',
    name: 'default',
    spec: {
      sandbox: { provider: 'auto', image: '', commandTimeoutSeconds: 120 },
      network: { mode: 'none', allowedHosts: [] },
      tenancy: 'session',
      idle: { timeoutSeconds: 900, action: 'suspend' },
      variables: {},
    },
    enabled: true,
    version: 1,
    isDefault: true,
    createdBy: '',
    createdAt: new Date(0),
    updatedAt: new Date(0),
  };
  const handlers: Partial<Handlers<AgentsServiceDefinition>> = {
    async getAgentVersion({ agentId, version }) {
      fake.versionRequests++;
      if (fake.isUnavailable) throw refuse('DEPENDENCY_UNAVAILABLE', 'the database is unavailable');
      const runtime = versions[version - 1];
      if (!runtime) throw refuse('AGENT_VERSION_NOT_FOUND', 'Unknown agent version.');
      const found = { agentId, version, runtime, createdBy: 'usr_1', createdAt: new Date(0) };
      return { version: found, agentName: 'Porter' };
    },
    async resolveEnvironment() {
      if (!environment.enabled) throw refuse('ENVIRONMENT_DISABLED', 'The environment default is disabled.');
      return { environment };
    },
    async lookUpMcpServers({ mcpServerIds }) {
      fake.lookUps++;
      return { mcpServers: fake.mcpServers.filter(({ mcpServerId }) => mcpServerIds.includes(mcpServerId)) };
    },
    async lookUpSkills({ skillIds }) {
      return { skills: skillIds.map((skillId) => ({ skillId, enabled: true })) };
    },
    async getCatalogueBody({ sha256 }) {
      return { catalogueJson: fake.catalogues.get(sha256) ?? '' };
    },
    async reportCatalogue(report) {
      fake.reportedCatalogues.push(report);
      return {};
    },
    async getModelWindow({ model }) {
      return { window: fake.modelWindows.get(model) };
    },
    async storeModelWindow({ model, window }) {
      fake.modelWindows.set(model, window);
      return {};
    },
    async reportRunner(report) {
      fake.runnerReports.push(report);
      return {};
    },
  };
  const fake: FakeAgents = {
    endpoint: guard({
      contract: AgentsServiceDefinition,
      handlers: handlers as Handlers<AgentsServiceDefinition>,
      peers: peers as Record<keyof typeof AgentsServiceDefinition.methods, string[]>,
      secret: context.serviceSecret,
      clock: context.clock,
      observe: context.observe,
    }),
    add(runtime) {
      return versions.push({
        model: 'rehearsal/echo',
        modelOptionsJson: '',
        system: '',
        environmentId: '',
        tools: [],
        maxSteps: 10,
        budget: undefined,
        ...runtime,
      });
    },
    changeEnvironment(spec, more = {}) {
      const { version } = environment;
      const completeSpec = { ...environment.spec, ...spec } as EnvironmentSpec;
      environment = { ...environment, version: version + 1, spec: completeSpec, ...more };
    },
    mcpServers: [],
    catalogues: new Map(),
    lookUps: 0,
    reportedCatalogues: [],
    modelWindows: new Map(),
    versionRequests: 0,
    runnerReports: [],
    isUnavailable: false,
  };
  return fake;
}
