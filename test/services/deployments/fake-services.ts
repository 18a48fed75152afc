import { type Refusal, refuse } from '../../../lib/errors.ts';
import type { Caller, Contract, Handlers, Peers } from '../../../lib/grpc/contract.ts';
import { guard } from '../../../lib/grpc/guard.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import {
  type CreateSessionRequest,
  type DeploymentSession,
  SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { connect, type TransportName } from '../../support/context.ts';
import { FakeAuth } from '../../support/fake-auth.ts';
import { identity } from '../../support/identity.ts';
import { FakeApprovals } from './fake-approvals.ts';
import { FakeSessions } from './fake-sessions.ts';

interface AgentEntry {
  name: string;
  ownerId: string;
  /** Other users who manage the agent. */
  managers?: string[];
  /** Other users who can use the agent. */
  users?: string[];
  enabled: boolean;
  /** The environment it runs in is disabled. */
  environmentDisabled?: boolean;
  version: number;
}

/** State and recorded calls of the fake services: the methods that deployments calls. */
export interface FakeServices {
  agents: Map<string, AgentEntry>;
  users: Map<string, { enabled: boolean; displayName?: string; email?: string }>;
  /** The sessions of webhooks, by invocation. */
  sessions: Map<string, FakeSession>;
  /** The sessions of schedules. */
  scheduled: FakeSessions;
  /** The approvals of sessions. */
  approvals: FakeApprovals;
  /** How often each method was called, except for the poll of signals. */
  calls: Map<string, number>;
  /** Methods that wait before they return their result, until the promise resolves. */
  pauses: Map<string, Pause>;
  /** The next failures of CreateSession, before or after it has created the session. */
  failures: { refusal: Refusal; created: boolean }[];
  auditLog: FakeAuth;
}

interface Pause {
  waiting: number;
  until: Promise<void>;
}

export function createFakeServices(): FakeServices {
  return {
    agents: new Map(),
    users: new Map(),
    sessions: new Map(),
    scheduled: new FakeSessions(),
    approvals: new FakeApprovals(),
    calls: new Map(),
    pauses: new Map(),
    failures: [],
    auditLog: new FakeAuth(),
  };
}

/** Opens clients of the fake services over the transport under test. */
export async function connectFakeServices(
  fakes: FakeServices,
  transport: TransportName,
  context: ServiceContext,
  stack: AsyncDisposableStack,
) {
  async function open<C extends Contract>(contract: C, handlers: Partial<Handlers<C>>) {
    const endpoint = guard({
      contract,
      handlers: handlers as Handlers<C>,
      peers: allMethods(contract),
      secret: context.serviceSecret,
      clock: context.clock,
      observe: ({ method }) => {
        if (method !== 'claimSignals') fakes.calls.set(method, (fakes.calls.get(method) ?? 0) + 1);
      },
    });
    return stack.use(await connect(contract, endpoint, transport, context)).as('deployments');
  }

  async function pause(method: string): Promise<void> {
    const pending = fakes.pauses.get(method);
    if (pending) pending.waiting++;
    await pending?.until;
  }

  function levelOf(agentId: string, caller: Caller | undefined): 'none' | 'use' | 'manage' {
    const agent = fakes.agents.get(agentId);
    if (!agent || !caller) return 'none';
    const { userId, roles } = caller;
    const isManager = agent.ownerId === userId || agent.managers?.includes(userId);
    if (isManager || roles.includes('administrator')) return 'manage';
    return agent.users?.includes(userId) ? 'use' : 'none';
  }

  function agentOf(agentId: string, caller: Caller | undefined): AgentEntry {
    const agent = fakes.agents.get(agentId);
    if (!agent || levelOf(agentId, caller) === 'none')
      throw refuse('AGENT_NOT_FOUND', 'there is no such agent');
    return agent;
  }

  const [agents, sessions, auth] = await Promise.all([
    open(AgentsServiceDefinition, {
      async getAgent({ agentId }, { caller }) {
        const agent = agentOf(agentId, caller);
        return { agent: { ...BLANK_AGENT, ...agent, agentId, level: levelOf(agentId, caller) } };
      },
      async resolveAgent({ agentId }, { caller }) {
        const { enabled, environmentDisabled, version } = agentOf(agentId, caller);
        await pause('resolveAgent');
        if (!enabled) throw refuse('AGENT_NOT_RUNNABLE', 'the agent is disabled');
        if (environmentDisabled) throw refuse('ENVIRONMENT_DISABLED', 'the environment is disabled');
        return { agentId, version };
      },
      async getLevel({ agentId }, { caller }) {
        return { level: levelOf(agentId, caller) };
      },
      async listManagedAgents(_, { caller }) {
        return {
          agentIds: [...fakes.agents.keys()].filter((agentId) => levelOf(agentId, caller) === 'manage'),
        };
      },
      async lookUpAgents({ agentIds, nameContains }, { caller }) {
        const mine = [...fakes.agents].filter(([agentId]) => levelOf(agentId, caller) !== 'none');
        const found = mine.filter(([agentId, { name }]) =>
          nameContains === ''
            ? agentIds.includes(agentId)
            : name.toLowerCase().includes(nameContains.toLowerCase()),
        );
        return { agents: found.map(([agentId, { name }]) => ({ agentId, name })) };
      },
    }),
    open(SessionsServiceDefinition, {
      ...fakes.scheduled.methods,
      ...fakes.approvals.methods,
      async createSession(request, call) {
        const { requestId = '' } = call;
        await pause('createSession');
        if (request.actor) return fakes.scheduled.create(request, call);
        const failure = fakes.failures.shift();
        if (failure && !failure.created) throw failure.refusal;
        fakes.sessions.set(request.invocationId, { ...request, requestId });
        if (failure) throw failure.refusal;
        return { sessionId: request.invocationId.replace('inv_', 'ses_'), turnId: '' };
      },
      async listDeploymentSessions({ deploymentId, beforeInvocationId, limit }) {
        const sessions = [...fakes.sessions.values()]
          .filter((session) => session.deploymentId === deploymentId)
          .filter(({ invocationId }) => beforeInvocationId === '' || invocationId < beforeInvocationId)
          .sort((a, b) => (a.invocationId < b.invocationId ? 1 : -1));
        return { sessions: sessions.slice(0, limit).map(sessionOf) };
      },
    }),
    open(AuthServiceDefinition, {
      recordActs: fakes.auditLog.recordActs,
      async getUser({ userId }) {
        const user = fakes.users.get(userId);
        if (!user) throw refuse('USER_NOT_FOUND', 'there is no such user');
        return { user: identity({ userId, roles: ['member'], ...user }).user };
      },
      async findUsers({ q }) {
        const found = [...fakes.users].filter(([, { enabled, email }]) => enabled && email?.includes(q));
        return {
          users: found.map(([userId, { displayName = '', email = '' }]) => ({ userId, displayName, email })),
        };
      },
    }),
  ]);
  return { agents, sessions, auth };
}

const BLANK_AGENT = {
  description: '',
  runtime: undefined,
  metadata: {},
  visibility: 'private',
  createdBy: '',
  createdAt: undefined,
  updatedAt: undefined,
};

function allMethods<C extends Contract>(contract: C): Peers<C> {
  const peers: Partial<Record<string, readonly string[]>> = {};
  for (const name of Object.keys(contract.methods)) peers[name] = ['deployments'];
  return peers as Peers<C>;
}

/** A created session, with the id of the request that created it. */
interface FakeSession extends CreateSessionRequest {
  requestId: string;
}

function sessionOf({ invocationId, bodyBytes, sourceAddress, requestId }: FakeSession): DeploymentSession {
  const sessionId = invocationId.replace('inv_', 'ses_');
  return { invocationId, sessionId, createdAt: new Date(0), bodyBytes, sourceAddress, requestId };
}
