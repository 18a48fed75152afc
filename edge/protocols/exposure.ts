import { Refusal, refuse } from '../../lib/errors.ts';
import type { Protocol } from '../../lib/event-types.ts';
import type { CallOptions } from '../../lib/grpc/contract.ts';
import type { Agent } from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { Session } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Clients } from '../clients.ts';

type AgentClients = { agents: Pick<Clients['agents'], 'getAgent'> };
type SessionClients = AgentClients & { sessions: Pick<Clients['sessions'], 'getSession'> };

/**
 * Returns an agent that is exposed to the protocol and that the caller may use, also a disabled one: `sessions` refuses
 * to start a session or turn with it. Refused with AGENT_NOT_FOUND for every other id.
 */
export async function requireExposedAgent(
  clients: AgentClients,
  call: CallOptions,
  agentId: string,
  protocol: Protocol,
): Promise<Agent> {
  const { agent } = await clients.agents.getAgent({ agentId }, call);
  if (!agent || !mayUse(agent) || !isExposed(agent, protocol)) {
    throw refuse('AGENT_NOT_FOUND', 'Unknown agent. It does not exist, or you do not have access to it.');
  }
  return agent;
}

/**
 * Returns a session of the caller whose agent is exposed to the protocol and may be used by the caller. Refused with
 * SESSION_NOT_FOUND for every other id, also for sessions that the caller may read because they manage the agent.
 */
export async function requireExposedSession(
  clients: SessionClients,
  call: CallOptions,
  sessionId: string,
  protocol: Protocol,
): Promise<Session> {
  const { session } = await clients.sessions.getSession({ sessionId }, call);
  const [exposed] = session ? await exposedSessions(clients, call, [session], protocol) : [];
  if (!exposed) throw refuse('SESSION_NOT_FOUND', `Unknown session ${sessionId}.`);
  return exposed;
}

/** Returns those of the sessions that `requireExposedSession` returns, in their order. Reads each agent once. */
export async function exposedSessions(
  clients: AgentClients,
  call: CallOptions,
  sessions: readonly Session[],
  protocol: Protocol,
): Promise<Session[]> {
  const own = sessions.filter(({ createdBy }) => createdBy === call.caller?.userId);
  const agentIds = [...new Set(own.map(({ agentId }) => agentId))];
  const found = await Promise.all(agentIds.map((agentId) => isFound(clients, call, agentId, protocol)));
  const exposed = new Set(agentIds.filter((_, index) => found[index]));
  return own.filter(({ agentId }) => exposed.has(agentId));
}

async function isFound(
  clients: AgentClients,
  call: CallOptions,
  agentId: string,
  protocol: Protocol,
): Promise<boolean> {
  // The sessions of an assistant name no agent.
  if (agentId === '') return false;
  try {
    await requireExposedAgent(clients, call, agentId, protocol);
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'AGENT_NOT_FOUND') return false;
    throw error;
  }
}

function mayUse({ level }: Agent): boolean {
  return level === 'use' || level === 'manage';
}

/** An agents service of an older release states no exposure and offers no protocol. */
function isExposed({ exposure }: Agent, protocol: Protocol): boolean {
  const state = exposure?.[protocol];
  return state !== undefined && state !== '' && state !== 'off';
}
