import { type Static, Type } from 'typebox';
import type { McpConnection, ToolCallResult } from '../../../../lib/mcp/open.ts';
import { RESOURCE_TOOLS, TOOLS } from '../../../../lib/tools.ts';
import type { McpServerRuntime } from '../../../../proto/gen/ahs/agents/v1/agents.ts';
import type { ToolCallContext } from '../../tool-calls/tool-call.ts';
import { type CalledServer, createToolRegistry, type RegisteredTool, type Tool } from '../tool.ts';
import type { McpToolContext } from './mcp-tool.ts';
import { prepareServerCall, runServerCall, type ServerCall } from './server-call.ts';
import { storeResult } from './store-result.ts';

const MAX_URI = 8_192;

/**
 * Returns the tools that list and read the resources of servers whose reviews offer them. Without such a server there are none.
 */
export function createResourceTools(
  servers: readonly McpServerRuntime[],
  context: McpToolContext,
): RegisteredTool[] {
  if (servers.length === 0) return [];
  const names = servers.map(({ name }) => name).sort();
  const server = Type.Unsafe<string>({ type: 'string', enum: names, description: 'The name of the server.' });
  const uri = Type.String({ minLength: 1, maxLength: MAX_URI, description: 'The URI of the resource.' });
  const [list, read] = RESOURCE_TOOLS;
  const closed = { additionalProperties: false };
  return [
    ...createToolRegistry(
      resourceTool(list, Type.Object({ server }, closed), servers, context, async (connection, _, signal) => {
        const text = JSON.stringify(await connection.listResources(signal), null, 1);
        return { isError: false, content: [{ type: 'text', text }] };
      }),
      resourceTool(
        read,
        Type.Object({ server, uri }, closed),
        servers,
        context,
        (connection, input, signal) => connection.readResource(input.uri, signal),
      ),
    ).values(),
  ];
}

type ServerInput = ReturnType<typeof Type.Object<{ server: ReturnType<typeof Type.Unsafe<string>> }>>;

function resourceTool<Input extends ServerInput>(
  name: (typeof RESOURCE_TOOLS)[number],
  input: Input,
  servers: readonly McpServerRuntime[],
  context: McpToolContext,
  exchange: (connection: McpConnection, input: Static<Input>, signal: AbortSignal) => Promise<ToolCallResult>,
): Tool {
  const kind = TOOLS[name];
  const calls = new Map(servers.map((server) => [server.name, callOf(server, kind.effect)]));
  const callFor = (named: string): ServerCall => {
    const call = calls.get(named);
    if (call) return call;
    throw new Error('the input of a resource tool names no server of the turn');
  };
  return {
    ...{ name, kind, input, hasOwnTimeout: true },
    serverOf: ({ server }) => calls.get(String(server))?.server,
    prepare: ({ turn }, { server }) => prepareServerCall(callFor(String(server)), turn, context),
    run: (value: Static<Input>, call: ToolCallContext) => {
      const { server } = value as Static<ServerInput>;
      return runServerCall(callFor(server), call.turn, context, async (current, credential) => {
        const result = await context.connections.exchange(current, credential, call, (connection) =>
          exchange(connection, value, call.signal),
        );
        context.comparison.startUnlessRecent(current, credential, call.turn);
        return storeResult(result, { server, notes: [] }, call, context.files);
      });
    },
  };
}

function callOf({ mcpServerId, name, url }: McpServerRuntime, effect: ServerCall['effect']): ServerCall {
  const server: CalledServer = { mcp_server_id: mcpServerId, name, host: new URL(url).host };
  return {
    server,
    effect,
    refusal: ({ offerResources }) =>
      offerResources ? undefined : `The resources of the MCP server ${name} may not be used.`,
  };
}
