import { Type } from 'typebox';
import type { Agent } from '../../../../proto/gen/ahs/agents/v1/agents.ts';
import { closed, paging, search, serializeTime } from '../../../schemas/common.ts';
import { exposedAgent, listExposedAgents } from '../agents.ts';
import { READS, tool } from '../tool.ts';
import { agentId, nextCursor } from './members.ts';

const AgentOutput = Type.Object({
  agent_id: agentId('the agent'),
  name: Type.String(),
  description: Type.String({ description: 'What the agent is for.' }),
  model: Type.String(),
  version: Type.Integer(),
  enabled: Type.Boolean({ description: 'A disabled agent starts no conversations and no turns.' }),
  created_at: Type.String(),
  updated_at: Type.String(),
});

export function serializeExposedAgent(agent: Agent) {
  return {
    agent_id: agent.agentId,
    name: agent.name,
    description: agent.description,
    model: agent.runtime?.model ?? '',
    version: agent.version,
    enabled: agent.enabled,
    created_at: serializeTime(agent.createdAt),
    updated_at: serializeTime(agent.updatedAt),
  };
}

export const agentTools = [
  tool({
    name: 'list_agents',
    title: 'List agents',
    description:
      'Lists the agents that you can delegate work to, newest first. Use it to find an agent by a part of its name or ' +
      'description before `create_conversation`.',
    annotations: READS,
    input: closed({ q: search('Matches a part of the name or description, or an id.'), ...paging }),
    output: Type.Object({ agents: Type.Array(AgentOutput), next_cursor: nextCursor }),
    async call(args, operation) {
      const { agents, page } = await listExposedAgents(operation, args);
      return {
        structured: { agents: agents.map(serializeExposedAgent), next_cursor: page?.nextCursor || null },
      };
    },
  }),

  tool({
    name: 'get_agent',
    title: 'Get an agent',
    description: 'Returns one agent by its id: its name, its purpose, and whether it is enabled.',
    annotations: READS,
    input: closed({ agent_id: agentId('the agent') }),
    output: Type.Object({ agent: AgentOutput }),
    async call(args, operation) {
      const agent = await exposedAgent(operation, args.agent_id);
      return { structured: { agent: serializeExposedAgent(agent) } };
    },
  }),
];
