import { type FieldProblems, pointerSegment } from '../../../lib/field-problems.ts';
import { findSchemaProblem } from '../../../lib/json-schema/schema.ts';
import { MCP_PREFIX } from '../../../lib/mcp-catalogue/tool-names.ts';
import { isToolName } from '../../../lib/tools.ts';

/** A tool that the client runs. */
export interface ClientTool {
  /** The description that the model gets. */
  description: string;
  /** JSON Schema of the input, an object, as JSON text. */
  inputSchemaJson: string;
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_DESCRIPTION = 8_192;
const MAX_TOOLS = 200;
const MEMBERS = new Set(['name', 'description', 'input_schema']);

/** Reports the problems of a list of client tools as the public API names them. `pointer` is the pointer of the list. */
export function checkClientTools(tools: unknown, pointer: string, problems: FieldProblems): void {
  if (!Array.isArray(tools)) {
    problems.add(pointer, 'must be an array');
    return;
  }
  if (tools.length > MAX_TOOLS) {
    problems.add(pointer, `must have at most ${MAX_TOOLS} items`);
    return;
  }
  const seen = new Set<unknown>();
  for (const [index, tool] of tools.entries()) {
    const at = `${pointer}${pointerSegment(index)}`;
    if (!isObject(tool)) problems.add(at, 'must be an object');
    else checkPublicTool(tool, at, problems, seen);
  }
}

/** Reports the problems of the client tool `name`. `pointer` is the pointer of the tool. */
export function checkClientTool(
  name: string,
  { description, inputSchemaJson }: ClientTool,
  pointer: string,
  problems: FieldProblems,
): void {
  checkLabels(name, description, pointer, problems);
  checkInputSchema(parse(inputSchemaJson), `${pointer}/input_schema`, problems);
}

export function sameClientTool(one: ClientTool | undefined, other: ClientTool | undefined): boolean {
  return one?.description === other?.description && one?.inputSchemaJson === other?.inputSchemaJson;
}

function checkPublicTool(
  tool: Record<string, unknown>,
  pointer: string,
  problems: FieldProblems,
  seen: Set<unknown>,
): void {
  const { name, description, input_schema: schema } = tool;
  for (const member of Object.keys(tool))
    if (!MEMBERS.has(member)) problems.add(`${pointer}${pointerSegment(member)}`, 'is not a known member');
  if (typeof name !== 'string') problems.add(`${pointer}/name`, 'must be a string');
  else if (typeof description !== 'string') problems.add(`${pointer}/description`, 'must be a string');
  else checkLabels(name, description, pointer, problems);
  if (seen.has(name)) problems.add(`${pointer}/name`, 'must not repeat an earlier tool');
  seen.add(name);
  checkInputSchema(schema, `${pointer}/input_schema`, problems);
}

function checkLabels(name: string, description: string, pointer: string, problems: FieldProblems): void {
  const problem = nameProblem(name);
  if (problem) problems.add(`${pointer}/name`, problem);
  problems.characters(`${pointer}/description`, description, 1, MAX_DESCRIPTION);
}

function nameProblem(name: string): string | undefined {
  if (!NAME.test(name)) return 'must consist of 1–64 letters, digits, underscores and hyphens';
  if (isToolName(name)) return 'must not be the name of a built-in tool';
  if (name.startsWith(MCP_PREFIX)) return `must not begin with ${MCP_PREFIX}`;
  return undefined;
}

/** Model providers accept only schemas of objects. */
function checkInputSchema(schema: unknown, pointer: string, problems: FieldProblems): void {
  const problem = findSchemaProblem(schema);
  if (problem) problems.add(pointer + problem.pointer, problem.message);
  else if (!isObject(schema) || schema.type !== 'object') problems.add(`${pointer}/type`, 'must be "object"');
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
