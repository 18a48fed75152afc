import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { guard } from '../../../lib/grpc/guard.ts';
import type { Endpoint } from '../../../lib/grpc/transport.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import { type AgentRuntime, AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';

/** The versions of one agent, as the contract hands them out. */
export interface AgentBook {
  endpoint: Endpoint;
  /** Returns the number of the new version. */
  add(runtime: Partial<AgentRuntime>): number;
  /** How often a version was asked for. */
  asked: number;
  /** While set, nobody answers. */
  away: boolean;
}

const peers = {
  ...Object.fromEntries(Object.keys(AgentsServiceDefinition.methods).map((name) => [name, []])),
  getAgentVersion: ['runner'],
};

export function createAgentBook(context: ServiceContext): AgentBook {
  const versions: AgentRuntime[] = [];
  const handlers: Partial<Handlers<AgentsServiceDefinition>> = {
    async getAgentVersion({ agentId, version }) {
      book.asked++;
      if (book.away) throw refuse('DEPENDENCY_UNAVAILABLE', 'the database is away');
      const runtime = versions[version - 1];
      if (!runtime) throw refuse('AGENT_VERSION_NOT_FOUND', 'no such version');
      return { version: { agentId, version, runtime, createdBy: 'usr_1', createdAt: new Date(0) } };
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
    asked: 0,
    away: false,
  };
  return book;
}
