import type { Agent } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { closed, optional } from '../../schemas/common.ts';
import { requireExposedAgent } from '../exposure.ts';
import { type AgentToolName, agentToolNames, parseAgentToolName } from './agent-tool-names.ts';
import { exposedAgent, listExposedAgents } from './agents.ts';
import { beginConversation, continueConversation } from './delegate.ts';
import type { McpOperation } from './operation.ts';
import { ownSession } from './session-access.ts';
import { type Tool, tool, WORKS } from './tool.ts';
import { idempotencyKey, message, sessionId, waitSeconds } from './tools/members.ts';
import { TurnResult } from './turn-result.ts';

const MAX_TOOLS = 64;
const PAGE_AGENTS = 100;
/** The agents of the newest sessions come first. */
const RECENT_SESSIONS = 100;
const MAX_DESCRIPTION_CHARACTERS = 1_000;

const INPUT = closed({
  message,
  session_id: optional(sessionId('an earlier conversation with this agent, to continue it')),
  wait_seconds: waitSeconds,
  idempotency_key: idempotencyKey,
});

/** The tools of the agents that the endpoint offers. Of more than 64 agents, those that the caller has used last. */
export async function listAgentTools(operation: McpOperation): Promise<Tool[]> {
  const { agents, page } = await listExposedAgents(operation, { limit: PAGE_AGENTS });
  const enabled = agents.filter((agent) => agent.enabled);
  const isComplete = !page?.nextCursor && enabled.length <= MAX_TOOLS;
  const chosen = isComplete ? enabled : await byLastUse(operation, enabled);
  const names = agentToolNames(chosen);
  return chosen.map((agent) => askTool(agent, names.get(agent.agentId) ?? ''));
}

async function byLastUse(operation: McpOperation, newest: readonly Agent[]): Promise<Agent[]> {
  const { context, call } = operation;
  const { sessions } = await context.clients.sessions.listSessions(
    {
      page: { limit: RECENT_SESSIONS, cursor: '' },
      agentId: '',
      deploymentId: '',
      status: '',
      q: '',
      states: [],
    },
    call,
  );
  const known = new Map(newest.map((agent) => [agent.agentId, agent]));
  const used = [...new Set(sessions.map(({ agentId }) => agentId))].filter((agentId) => agentId !== '');
  const found = await Promise.all(
    used.map(
      (agentId) =>
        known.get(agentId) ??
        requireExposedAgent(context.clients, call, agentId, 'mcp').catch(() => undefined),
    ),
  );
  const recent = found.filter((agent) => agent?.enabled === true) as Agent[];
  const rest = newest.filter(({ agentId }) => !recent.some((agent) => agent.agentId === agentId));
  return [...recent, ...rest].slice(0, MAX_TOOLS);
}

/** The tool with this name. Undefined unless it is the tool of exactly one agent that the endpoint offers. */
export async function findAgentTool(operation: McpOperation, name: string): Promise<Tool | undefined> {
  const parsed = parseAgentToolName(name);
  if (!parsed) return undefined;
  const matching = await findAgents(operation, parsed);
  const [agent] = matching;
  return agent && matching.length === 1 ? askTool(agent, name) : undefined;
}

async function findAgents(operation: McpOperation, { searchText, matches }: AgentToolName): Promise<Agent[]> {
  if (operation.agentId !== undefined)
    return [await exposedAgent(operation, operation.agentId)].filter(matches);
  const found: Agent[] = [];
  let cursor = '';
  do {
    const query = { q: searchText, limit: PAGE_AGENTS, cursor };
    const { agents, page } = await listExposedAgents(operation, query);
    found.push(...agents.filter(matches));
    cursor = page?.nextCursor ?? '';
  } while (cursor !== '');
  return found;
}

/**
 * Its schemas are checked by the tool `ask`, which all agents share. The list leaves out the schema of the result, which would
 * be most of its bytes: `wait_for_turn` has the same one.
 */
function askTool(agent: Agent, name: string): Tool {
  const description =
    `Sends a message to the agent ${JSON.stringify(agent.name)} and waits for its answer.` +
    (agent.description && ` ${agent.description.slice(0, MAX_DESCRIPTION_CHARACTERS).toWellFormed()}`);
  const title = agent.name;
  return {
    ...ASK,
    ...{ name, title, description },
    definition: { ...ASK_DEFINITION, name, title, description },
    call: (args, operation, progress) => ASK.call(args, { ...operation, agentId: agent.agentId }, progress),
  };
}

const ASK = tool({
  name: 'ask',
  title: '',
  description: '',
  annotations: WORKS,
  input: INPUT,
  output: TurnResult,
  waits: true,
  async call(args, operation, progress) {
    const { agentId = '' } = operation;
    const { message: text, session_id, idempotency_key, wait_seconds: seconds } = args;
    const wait = { seconds, progress };
    if (session_id === undefined)
      return beginConversation(operation, { agentId, message: text, idempotencyKey: idempotency_key }, wait);
    const { sessionId: id } = await ownSession(operation, session_id);
    const sent = { sessionId: id, message: text, idempotencyKey: idempotency_key };
    return continueConversation(operation, sent, wait);
  },
});

const { outputSchema: _, ...ASK_DEFINITION } = ASK.definition;
