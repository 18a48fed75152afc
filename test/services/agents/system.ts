import { refuse } from '../../../lib/errors.ts';
import type { Caller, Client } from '../../../lib/grpc/contract.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import {
  AgentsServiceDefinition,
  type CreateAgentRequest,
  type PinnedSkill,
} from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import {
  type DeleteSkillTreeRequest,
  FilesServiceDefinition,
  type Place,
  type PutSkillTreeRequest,
} from '../../../proto/gen/ahs/files/v1/files.ts';
import {
  type GetAgentCredentialsRequest,
  type GetAgentCredentialsResponse,
  type ProbeRequest,
  type ProbeResponse,
  VaultsServiceDefinition,
} from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { openAgents } from '../../../services/agents/service.ts';
import { connect, createContext, type TransportName } from '../../support/context.ts';
import { createDatabase } from '../../support/database.ts';
import { FakeAuth } from '../../support/fake-auth.ts';
import { fakeService } from '../../support/fake-service.ts';

export interface AgentsSystem extends AsyncDisposable {
  as(self: string): Client<AgentsServiceDefinition>;
  edge: Client<AgentsServiceDefinition>;
  databaseUrl: string;
  auditLog: FakeAuth;
}

interface AgentsOptions extends Partial<ServiceContext> {
  /** The implementation of DeleteWorkspace in the fake files service. */
  deleteWorkspace?: (place: Place | undefined) => Promise<void>;
  /** Receives the messages of PutSkillTree in the fake files service. */
  putSkillTree?: (messages: AsyncIterable<PutSkillTreeRequest>) => Promise<void>;
  /** The implementation of DeleteSkillTree in the fake files service. */
  deleteSkillTree?: (tree: DeleteSkillTreeRequest) => Promise<void>;
  /** The implementation of DeleteAssignments in the fake vaults service. */
  deleteAssignments?: (id: string | undefined) => Promise<void>;
  /** The implementation of Probe in the fake vaults service. */
  probe?: (request: ProbeRequest) => Promise<ProbeResponse>;
  /** The implementation of GetAgentCredentials in the fake vaults service. */
  getAgentCredentials?: (request: GetAgentCredentialsRequest) => Promise<GetAgentCredentialsResponse>;
  /** Whether the fake auth service knows a user. */
  userExists?: (userId: string) => boolean;
  /** Opens a second replica on this database. */
  databaseUrl?: string;
}

/** Opens the agents service on its own database, behind the transport under test. */
export async function openAgentsSystem(
  transport: TransportName,
  options: AgentsOptions = {},
): Promise<AgentsSystem> {
  await using opening = new AsyncDisposableStack();
  const {
    deleteWorkspace = async () => {},
    putSkillTree = async (messages) => {
      await Array.fromAsync(messages);
    },
    deleteSkillTree = async () => {},
    deleteAssignments = async () => {},
    probe = async () => {
      throw refuse('DEPENDENCY_UNAVAILABLE', 'These tests have no MCP servers.');
    },
    getAgentCredentials = async () => {
      throw refuse('DEPENDENCY_UNAVAILABLE', 'Vaults cannot be reached.');
    },
    userExists: isThere = () => true,
    databaseUrl,
    ...overrides
  } = options;
  const url = databaseUrl ?? opening.use(await createDatabase()).url;
  const context = createContext(url, overrides);
  const files = fakeService(
    FilesServiceDefinition,
    {
      async deleteWorkspace({ place }) {
        await deleteWorkspace(place);
        return {};
      },
      async putSkillTree(messages) {
        await putSkillTree(messages);
        return {};
      },
      async deleteSkillTree(tree) {
        await deleteSkillTree(tree);
        return {};
      },
    },
    'agents',
    context,
  );
  const vaults = fakeService(
    VaultsServiceDefinition,
    {
      probe,
      getAgentCredentials,
      async deleteAssignments({ target }) {
        await deleteAssignments(target?.of?.value);
        return {};
      },
    },
    'agents',
    context,
  );
  const auditLog = new FakeAuth();
  const auth = fakeService(
    AuthServiceDefinition,
    {
      recordActs: auditLog.recordActs,
      async getUser({ userId }) {
        if (!isThere(userId)) throw refuse('USER_NOT_FOUND', `Unknown user \`${userId}\`.`);
        const user = { userId, displayName: 'Somebody', roles: [], enabled: true, email: '', groups: [] };
        return { user: { ...user, createdAt: undefined, lastSeenAt: undefined } };
      },
    },
    'agents',
    context,
  );
  const config = {
    pool: 4,
    mcpMaxTools: 8,
    modelEndpoints: { local: 'http://127.0.0.1:1/v1' },
    outboundPrivateHosts: [{ host: '127.0.0.1', port: 8123 }],
  };
  const agents = opening.adopt(await openAgents(context, config, { files, auth, vaults }), (service) =>
    service.stop(),
  );
  const { as } = opening.use(await connect(AgentsServiceDefinition, agents.endpoint, transport, context));
  const stack = opening.move();
  return {
    as,
    edge: as('edge'),
    databaseUrl: url,
    auditLog,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function callerNamed(letter: string): { caller: Caller } {
  return { caller: { userId: `usr_${letter.repeat(26)}`, roles: ['member'] } };
}

/** Call options of an administrator. */
export const administrator = { caller: { userId: `usr_${'R'.repeat(26)}`, roles: ['administrator'] } };

/** Call options of two users without common access. */
export const alice = callerNamed('A');
export const bob = callerNamed('B');

export const ABSENT = 'agt_7ZZZZZZZZZZZZZZZZZZZZZZZZZ';

export const RUNTIME = {
  model: 'rehearsal/echo',
  models: { names: [] as string[] },
  modelOptionsJson: '{}',
  system: '',
  environmentId: '',
  tools: [],
  maxSteps: 100,
  budget: undefined,
  outputSchemaJson: '',
  overridable: { names: [] as string[] },
  context: {},
  mcpServers: { ids: [] as string[] },
  skills: { items: [] as PinnedSkill[] },
};

/** A valid request. */
export function agentRequest(overrides: Partial<CreateAgentRequest> = {}): CreateAgentRequest {
  return {
    name: 'Echo',
    description: '',
    runtime: RUNTIME,
    metadata: {},
    enabled: true,
    visibility: 'private',
    idempotencyKey: '',
    ...overrides,
  };
}

/** An update request with only the given fields. */
export function change(agentId: string, members: object = {}) {
  return { agentId, tools: undefined, budget: undefined, metadata: undefined, ...members };
}

/** Creates an agent and returns its id. */
export async function createAgent(
  { edge }: AgentsSystem,
  overrides: Partial<CreateAgentRequest> = {},
  by = alice,
): Promise<string> {
  const { agent } = await edge.createAgent(agentRequest(overrides), by);
  if (!agent) throw new Error('the answer has no agent');
  return agent.agentId;
}
