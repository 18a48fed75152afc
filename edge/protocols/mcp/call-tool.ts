import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { FieldProblem } from '../../../lib/errors.ts';
import { findAgentTool, listAgentTools } from './agent-tools.ts';
import { continueTurn } from './input/continue-turn.ts';
import { openRequestState, type RequestState } from './input/request-state.ts';
import { INVALID_PARAMS, REFUSED } from './json-rpc.ts';
import { type McpOperation, noteFailure } from './operation.ts';
import { createProgressReporter } from './report-progress.ts';
import { callToolResult, type Tool } from './tool.ts';
import { TOOLS } from './tools.ts';

const BY_NAME = new Map(TOOLS.map((tool) => [tool.name, tool]));
const MAX_PROBLEMS = 20;

/** The tools of an operation, in the order of `tools/list`. */
export async function listTools(operation: McpOperation): Promise<Tool['definition'][]> {
  const { scopes } = operation;
  const general = TOOLS.filter(({ requires }) => requires === undefined || scopes.includes(requires));
  try {
    const tools = [...general, ...(await listAgentTools(operation))];
    return tools.map(({ definition }) => definition);
  } catch (error) {
    const { message, ...data } = noteFailure(operation, error);
    throw new ProtocolError(REFUSED, message, data);
  }
}

/**
 * Calls a tool. An unknown tool and invalid arguments are errors of the protocol, and nothing is called. A refusal of a service
 * is a result with `isError`, so that the model reads it. A call with the state of an earlier one continues that one.
 */
export async function callTool(
  operation: McpOperation,
  { name, arguments: args = {} }: { name: string; arguments?: Record<string, unknown> | undefined },
  exchange: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  try {
    const tool = await findTool(operation, name);
    const problems = tool.inspectInput(args);
    if (problems.length > 0) throw invalidArguments(operation, tool, problems);
    return resultOf(tool, await runTool(tool, args, operation, exchange));
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    const text = JSON.stringify({ error: noteFailure(operation, error) });
    return { isError: true, content: [{ type: 'text', text }] };
  }
}

function runTool(
  tool: Tool,
  args: Record<string, unknown>,
  operation: McpOperation,
  exchange: ServerContext,
): ReturnType<Tool['call']> {
  const { wait_seconds: given } = args;
  const seconds = typeof given === 'number' ? given : undefined;
  const progress = createProgressReporter(exchange);
  const state = stateOf(tool, operation, exchange);
  const responses = exchange.mcpReq.inputResponses ?? {};
  return state
    ? continueTurn(operation, state, responses, { seconds, progress })
    : tool.call(args, operation, progress);
}

function resultOf(
  tool: Tool,
  result: Awaited<ReturnType<Tool['call']>>,
): CallToolResult | InputRequiredResult {
  if ('deferred' in result) return result.deferred;
  const [problem] = tool.inspectOutput(result.structured);
  if (problem)
    throw new Error(`The result of ${tool.name} does not match: ${problem.pointer} ${problem.message}`);
  return callToolResult(result);
}

/** The state of the call that this one continues. An altered state, an expired one and that of another user are refused alike. */
function stateOf(
  { waits }: Tool,
  { context, call, outcome }: McpOperation,
  { mcpReq }: ServerContext,
): RequestState | undefined {
  const sealed = mcpReq.requestState();
  if (sealed === undefined) return undefined;
  const { deriveKey, clock } = context;
  const state =
    waits && typeof sealed === 'string'
      ? openRequestState(deriveKey, call.caller.userId, sealed, clock.now())
      : undefined;
  if (state) return state;
  outcome.errorCode = 'INVALID_REQUEST';
  throw new ProtocolError(INVALID_PARAMS, 'Invalid or expired `requestState`.', { code: outcome.errorCode });
}

async function findTool(operation: McpOperation, name: string): Promise<Tool> {
  const { scopes, outcome } = operation;
  const tool = BY_NAME.get(name) ?? (await findAgentTool(operation, name));
  if (tool && (tool.requires === undefined || scopes.includes(tool.requires))) return tool;
  outcome.errorCode = tool ? 'SCOPE_INSUFFICIENT' : 'INVALID_REQUEST';
  const quoted = JSON.stringify(name.slice(0, 100).toWellFormed());
  const message = tool
    ? `The tool ${quoted} requires the scope \`${tool.requires}\`.`
    : `Unknown tool ${quoted}.`;
  throw new ProtocolError(INVALID_PARAMS, message, { code: outcome.errorCode });
}

function invalidArguments(
  { outcome }: McpOperation,
  { name }: Tool,
  problems: FieldProblem[],
): ProtocolError {
  outcome.errorCode = 'INVALID_REQUEST';
  const details = problems.slice(0, MAX_PROBLEMS);
  const text = details.map(({ pointer, message }) => `${pointer || 'The arguments'} ${message}`).join('; ');
  return new ProtocolError(INVALID_PARAMS, `Invalid arguments for ${name}: ${text}`, {
    code: outcome.errorCode,
    details,
  });
}
