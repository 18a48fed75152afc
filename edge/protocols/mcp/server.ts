import { type McpRequestContext, Server, type ServerContext } from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import packageJson from '../../../package.json' with { type: 'json' };
import { callTool, listTools } from './call-tool.ts';
import { clientCapabilities } from './client-capabilities.ts';
import type { McpOperation } from './operation.ts';
import { resourceContext } from './resources/context.ts';
import { serveResources } from './resources/resources.ts';
import { REVISION } from './result-transport.ts';
import { serveTasks, TASKS_EXTENSION } from './tasks/serve-tasks.ts';
import { taskSource } from './tasks/task-source.ts';

const IDENTITY = {
  name: 'agent-hosting-service',
  title: 'Agent Hosting Service',
  version: packageJson.version,
};

const INSTRUCTIONS =
  'Delegate work to agents that run on this service. Each `ask_…` tool sends a message to one agent and waits for its answer; ' +
  '`list_agents` finds further ones. The answer names a `session_id`: pass it to the same tool or to `send_message` to continue ' +
  'the conversation. With the status `running`, call `wait_for_turn` until the turn has ended. With the status `blocked`, the ' +
  'agent waits for a person: show the user the approvals or questions and the `console_url`.';

/** Only requests of the newer revision have streams on which changes are reported, and tasks. */
const MODERN_CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true },
  extensions: TASKS_EXTENSION,
};
const LEGACY_CAPABILITIES = { tools: {}, resources: {} };

/** Shared, because its construction is expensive. It validates answers to elicitations only. */
const validator = new AjvJsonSchemaValidator();

/**
 * Creates the server object of one request. It gets only the handlers of the family of its method, because a call that waits
 * retains all of them for minutes.
 */
export function createServer(operation: McpOperation, era: McpRequestContext['era'], method: string): Server {
  const isModern = era === 'modern';
  const server = new Server(IDENTITY, {
    capabilities: isModern ? MODERN_CAPABILITIES : LEGACY_CAPABILITIES,
    instructions: INSTRUCTIONS,
    jsonSchemaValidator: validator,
    ...(isModern && { supportedProtocolVersions: [REVISION] }),
  });
  const operationOf = (exchange: ServerContext): McpOperation =>
    isModern ? { ...operation, client: clientCapabilities(exchange) } : operation;
  if (method === 'tools/list')
    server.setRequestHandler(method, async () => ({ tools: await listTools(operation) }));
  if (method === 'tools/call')
    server.setRequestHandler(method, ({ params }, exchange) =>
      callTool(operationOf(exchange), params, exchange),
    );
  if (method.startsWith('resources/')) serveResources(server, resourceContext(operation));
  if (method.startsWith('tasks/') && isModern)
    serveTasks(server, (exchange) => taskSource(operationOf(exchange)));
  return server;
}
