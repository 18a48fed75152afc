import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { type FieldProblem, Refusal } from '../../../lib/errors.ts';
import { publicError, toRefusal } from '../../errors.ts';
import type { McpOperation } from './operation.ts';
import { createProgressReporter } from './report-progress.ts';
import type { Tool } from './tool.ts';
import { TOOLS } from './tools/index.ts';

const BY_NAME = new Map(TOOLS.map((tool) => [tool.name, tool]));
const MAX_PROBLEMS = 20;

/** The tools of an operation, as `tools/list` returns them. */
export function listTools({ scopes }: McpOperation): Tool['definition'][] {
  return TOOLS.filter(({ requires }) => requires === undefined || scopes.includes(requires)).map(
    ({ definition }) => definition,
  );
}

/**
 * Calls a tool. An unknown tool and invalid arguments are errors of the protocol, and nothing is called. A refusal of a service
 * is a result with `isError`, so that the model reads it.
 */
export async function callTool(
  operation: McpOperation,
  { name, arguments: args = {} }: { name: string; arguments?: Record<string, unknown> | undefined },
  exchange: ServerContext,
): Promise<CallToolResult> {
  const tool = findTool(operation, name);
  const problems = tool.inspectInput(args);
  if (problems.length > 0) throw refuseArguments(operation, tool, problems);
  try {
    const { structured, content = [] } = await tool.call(args, operation, createProgressReporter(exchange));
    const [problem] = tool.inspectOutput(structured);
    if (problem) throw new Error(`${name} returned a result whose ${problem.pointer} ${problem.message}`);
    return {
      // Also as text, for clients that do not read structured results.
      content: [{ type: 'text', text: JSON.stringify(structured) }, ...content],
      structuredContent: structured,
    };
  } catch (error) {
    return failure(operation, error);
  }
}

function findTool(operation: McpOperation, name: string): Tool {
  const tool = BY_NAME.get(name);
  if (tool && (tool.requires === undefined || operation.scopes.includes(tool.requires))) return tool;
  operation.outcome.errorCode = tool ? 'SCOPE_INSUFFICIENT' : 'INVALID_REQUEST';
  const quoted = JSON.stringify(name.slice(0, 100).toWellFormed());
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    tool ? `The tool ${quoted} requires the scope \`${tool.requires}\`.` : `Unknown tool ${quoted}.`,
  );
}

function refuseArguments({ outcome }: McpOperation, { name }: Tool, problems: FieldProblem[]): ProtocolError {
  outcome.errorCode = 'INVALID_REQUEST';
  const shown = problems.slice(0, MAX_PROBLEMS);
  const text = shown.map(({ pointer, message }) => `${pointer || 'The arguments'} ${message}`).join('; ');
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid arguments for ${name}: ${text}`, {
    details: shown,
  });
}

function failure(operation: McpOperation, error: unknown): CallToolResult {
  const refusal = error instanceof Refusal ? error : toRefusal(error);
  operation.outcome.errorCode = refusal.code;
  if (refusal.code === 'INTERNAL') operation.outcome.cause = refusal.cause ?? error;
  const text = JSON.stringify({ error: { ...publicError(refusal), request_id: operation.requestId } });
  return { isError: true, content: [{ type: 'text', text }] };
}
