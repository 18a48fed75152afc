import { sha256 } from '../../../lib/digest.ts';
import type { CallOptions } from '../../../lib/grpc/contract.ts';
import type { LeasedTurn } from '../queue/leased-turns.ts';
import type { McpTools, ServerTools } from '../tools/mcp/open.ts';
import type { RegisteredTool } from '../tools/tool.ts';
import type { TurnRuntime } from './agent-runtime.ts';

/** The settings of a turn before its overrides, and what its MCP servers offer. */
interface RuntimeWithServers {
  runtime: TurnRuntime;
  offered: ServerTools;
}

const NOTHING: ServerTools = {
  ...{ tools: [], resourceTools: [], resourceServers: [] },
  reviews: new Map(),
  instructions: new Map(),
  async close() {},
};

/** Adds the tools of the agent's MCP servers to its toolbox. Rejects with refusals of the agents service. */
export async function addServerTools(
  runtime: TurnRuntime,
  mcpTools: Pick<McpTools, 'offer'>,
  call: CallOptions,
): Promise<RuntimeWithServers> {
  const { ids = [] } = runtime.mcpServers ?? {};
  if (ids.length === 0) return { runtime, offered: NOTHING };
  const offered = await mcpTools.offer(ids, call);
  const serverTools = [...offered.tools, ...offered.resourceTools];
  const toolboxWith: TurnRuntime['toolboxWith'] = (more) => runtime.toolboxWith({ ...more, serverTools });
  return { runtime: { ...runtime, toolbox: toolboxWith({}), toolboxWith }, offered };
}

/** Adds the instructions of the servers whose tools the turn can use behind the system prompt of the agent. */
export function addInstructions(runtime: TurnRuntime, offered: ServerTools): TurnRuntime {
  if (offered.instructions.size === 0) return runtime;
  const used = new Set(usableNames(runtime, offered).map(({ server }) => server));
  const texts = [...offered.instructions].flatMap(([name, text]) => (used.has(name) ? [text] : []));
  return { ...runtime, system: [runtime.system, ...texts].filter((text) => text !== '').join('\n\n') };
}

/** The tools of servers that permissions and overrides leave. */
function usableTools({ toolbox }: TurnRuntime, tools: readonly RegisteredTool[]): RegisteredTool[] {
  return tools.filter(({ name }) => toolbox.permissionOf(name) !== 'deny');
}

/** The names of the usable tools with their servers. A tool for resources is there once for each server. */
function usableNames(runtime: TurnRuntime, { tools, resourceTools, resourceServers }: ServerTools) {
  return [
    ...usableTools(runtime, tools).map(({ name, server }) => ({ name, server: server?.name ?? '' })),
    ...usableTools(runtime, resourceTools).flatMap(({ name }) =>
      resourceServers.map((server) => ({ name, server })),
    ),
  ];
}

/** Journals which tools of servers a turn can use, unless the newest event of the session has the same. */
export function journalOfferedTools(
  { claimed, outbox }: LeasedTurn,
  runtime: TurnRuntime,
  offered: ServerTools,
): void {
  const usable = usableTools(runtime, [...offered.tools, ...offered.resourceTools]);
  const { toolsOfferedSha256: journaled } = claimed;
  if (usable.length === 0 && journaled === undefined) return;
  const tools = usableNames(runtime, offered).map(({ name, server }) => ({
    ...{ name, server, review: offered.reviews.get(server) ?? 0 },
  }));
  const data = { sha256: sha256(JSON.stringify(usable.map(({ definition }) => definition))), tools };
  if (sha256(JSON.stringify(data)) !== journaled) outbox.add('agent.tools_offered', data);
}
