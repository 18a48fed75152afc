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
} from '../../../proto/gen/ahs/agents/v1/agents.ts';

/** The versions of one agent, as the contract hands them out. */
export interface AgentBook {
  endpoint: Endpoint;
  /** Returns the number of the new version. */
  add(runtime: Partial<AgentRuntime>): number;
  /** How often a version was asked for. */
  asked: number;
  /** Changes the environment; a new version of it. */
  environment(spec: Partial<EnvironmentSpec>, more?: Partial<Environment>): void;
  /** While set, nobody answers. */
  away: boolean;
}

const peers = {
  ...Object.fromEntries(Object.keys(AgentsServiceDefinition.methods).map((name) => [name, []])),
  getAgentVersion: ['runner'],
  resolveEnvironment: ['runner'],
};

export function createAgentBook(context: ServiceContext): AgentBook {
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
      book.asked++;
      if (book.away) throw refuse('DEPENDENCY_UNAVAILABLE', 'the database is away');
      const runtime = versions[version - 1];
      if (!runtime) throw refuse('AGENT_VERSION_NOT_FOUND', 'no such version');
      return { version: { agentId, version, runtime, createdBy: 'usr_1', createdAt: new Date(0) } };
    },
    async resolveEnvironment() {
      if (!environment.enabled) throw refuse('ENVIRONMENT_DISABLED', 'the environment default is disabled');
      return { environment };
    },
  };
  const book: AgentBook = {
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
    environment(spec, more = {}) {
      const { version } = environment;
      const whole = { ...environment.spec, ...spec } as EnvironmentSpec;
      environment = { ...environment, version: version + 1, spec: whole, ...more };
    },
    asked: 0,
    away: false,
  };
  return book;
}
