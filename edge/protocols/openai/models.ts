import { refuse } from '../../../lib/errors.ts';
import type { CallOptions } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { Agent } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { Clients } from '../../clients.ts';
import { requireExposedAgent } from '../exposure.ts';

const PAGE = 100;
/** Further agents are found by their id only. */
const MAX_AGENTS = 1_000;
const MAX_SLUG_CHARACTERS = 40;

/** The name of an agent in the form of a model id: lower case, with `-` for other characters than letters and digits. */
export function slugOf({ name }: Pick<Agent, 'name'>): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, MAX_SLUG_CHARACTERS)
    .replace(/-+$/, '');
}

export interface Model {
  /** The slug if it is unique among the agents of the caller, else the agent id. */
  id: string;
  agent: Agent;
}

/** The agents that are exposed to the OpenAI-compatible API and that the caller may use, newest first. */
export async function listModels({ agents }: Pick<Clients, 'agents'>, call: CallOptions): Promise<Model[]> {
  const found: Agent[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined && found.length < MAX_AGENTS; ) {
    const answer = await agents.listAgents(
      { page: { limit: PAGE, cursor }, q: '', exposedTo: 'openai' },
      call,
    );
    found.push(...answer.agents);
    cursor = answer.page?.nextCursor || undefined;
  }
  const counts = new Map<string, number>();
  for (const agent of found) counts.set(slugOf(agent), (counts.get(slugOf(agent)) ?? 0) + 1);
  return found.map((agent) => {
    const slug = slugOf(agent);
    return { id: slug !== '' && counts.get(slug) === 1 ? slug : agent.agentId, agent };
  });
}

/** The agent with this model id: an agent id or a unique slug. Refuses with AGENT_NOT_FOUND. */
export async function findModel(
  clients: Pick<Clients, 'agents'>,
  call: CallOptions,
  model: string,
): Promise<Agent> {
  if (isId('agt', model)) return requireExposedAgent(clients, call, model, 'openai');
  const found = (await listModels(clients, call)).find(({ id }) => id === model);
  if (found) return found.agent;
  const name = JSON.stringify(model.slice(0, 100).toWellFormed());
  throw refuse(
    'AGENT_NOT_FOUND',
    `The model ${name} does not exist, or you do not have access to it. GET /models lists yours.`,
  );
}

/** The form of a model in the API. */
export function modelObject({ id, agent }: Model) {
  return {
    id,
    object: 'model',
    created: Math.floor((agent.createdAt?.getTime() ?? 0) / 1_000),
    owned_by: 'agent-hosting-service',
    agent_id: agent.agentId,
    name: agent.name,
  };
}
