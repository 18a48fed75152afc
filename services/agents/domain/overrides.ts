import { type FieldProblem, refuse } from '../../../lib/errors.ts';
import { FieldProblems, pointerSegment } from '../../../lib/field-problems.ts';
import { serverOfEntry } from '../../../lib/mcp-catalogue/tool-names.ts';
import { isToolName, PERMISSIONS, type Permission, TOOLS } from '../../../lib/tools.ts';
import type { AgentRuntime } from './agent-runtime.ts';
import { checkClientTools } from './client-tools.ts';
import { checkModelOptionNames } from './model-options.ts';
import { checkSchemaText } from './output-schema.ts';
import { OVERRIDABLE, type Overridable } from './overridable.ts';
import { type AgentTool, RUNTIME_FIELDS, type RuntimeContext } from './runtime-fields.ts';

/** Overrides as the public API names them. Each member replaces the same member of lower precedence. */
export type Overrides = { [Name in Overridable]?: unknown };

/**
 * Returns the overrides in force: those of the message before those of the session. Those of the message are checked
 * against the version of the agent; those of the session were checked when they were set. Refused with
 * OVERRIDE_NOT_ALLOWED for settings that the agent does not make overridable, and with INVALID_REQUEST for values
 * that are invalid or wider than those of the agent. Pointers refer to the body of the public request.
 */
export function resolveOverrides(
  runtime: AgentRuntime,
  { sessionOverridesJson, overridesJson }: { sessionOverridesJson: string; overridesJson: string },
  context: RuntimeContext,
): Overrides {
  const given = parseOverrides(overridesJson);
  requireOverridable(Object.keys(given), runtime.overridable.names);
  const problems = new FieldProblems();
  for (const name of OVERRIDABLE)
    if (Object.hasOwn(given, name)) CHECKS[name](given[name], problems, { runtime, context });
  const merged: Overrides = { ...parseOverrides(sessionOverridesJson), ...given };
  checkOptionNames(merged, runtime, problems);
  problems.throwIfAny();
  return merged;
}

/** Reads overrides. Refused with INVALID_REQUEST for text that is no JSON object and for unknown members. */
function parseOverrides(json: string): Overrides {
  if (json === '') return {};
  const overrides = parse(json);
  if (!isObject(overrides)) throw refuse('INVALID_REQUEST', 'The overrides must be a JSON object.');
  const problems = new FieldProblems();
  for (const name of Object.keys(overrides))
    if (!OVERRIDABLE.some((known) => known === name))
      problems.add(pointerSegment(name), 'is not a known member');
  problems.throwIfAny();
  return overrides;
}

function requireOverridable(names: readonly string[], allowed: readonly string[]): void {
  const details = names
    .filter((name) => !allowed.includes(name))
    .map((name): FieldProblem => ({ pointer: `/${name}`, message: 'is not in `overridable` of the agent' }));
  if (details.length === 0) return;
  const list = details.map(({ pointer }) => pointer).join(', ');
  throw refuse('OVERRIDE_NOT_ALLOWED', `The agent does not allow overriding ${list}.`, { details });
}

interface CheckContext {
  runtime: AgentRuntime;
  context: RuntimeContext;
}

type Check = (value: unknown, problems: FieldProblems, context: CheckContext) => void;

const CHECKS: Record<Overridable, Check> = {
  model(value, problems, { context }) {
    if (typeof value === 'string') RUNTIME_FIELDS.model.check(value, problems, context);
    else problems.add('/model', 'must be a string');
  },

  system(value, problems) {
    const { mode, text } = isObject(value) ? value : {};
    if (mode !== 'append' && mode !== 'replace')
      problems.add('/system/mode', 'must be one of append, replace');
    if (typeof text !== 'string') return problems.add('/system/text', 'must be a string');
    problems.storable('/system/text', text);
    if (Buffer.byteLength(text) > MAX_SYSTEM_BYTES)
      problems.add('/system/text', 'must be at most 256 KiB long');
  },

  tools(value, problems, { runtime }) {
    if (!Array.isArray(value)) return problems.add('/tools', 'must be an array');
    for (const [index, tool] of value.entries())
      checkTool(`/tools${pointerSegment(index)}`, tool, runtime, problems);
  },

  client_tools(value, problems) {
    checkClientTools(value, '/client_tools', problems);
  },

  model_options(value, problems, { context }) {
    if (isObject(value)) RUNTIME_FIELDS.modelOptionsJson.check(JSON.stringify(value), problems, context);
    else problems.add('/model_options', 'must be a JSON object');
  },

  max_steps(value, problems, { context }) {
    RUNTIME_FIELDS.maxSteps.check(Number(typeof value === 'number' ? value : Number.NaN), problems, context);
  },

  budget(value, problems, { runtime: { budget } }) {
    if (!isObject(value)) return problems.add('/budget', 'must be an object');
    const limits = { max_tokens: budget.maxTokens, max_turn_seconds: budget.maxTurnSeconds };
    for (const [name, limit] of Object.entries(value)) checkLimit(name, limit, limits, problems);
  },

  output_schema(value, problems) {
    checkSchemaText('/output_schema', JSON.stringify(value), problems);
  },
};

const MAX_SYSTEM_BYTES = 256 * 1024;

/** A permission may become stricter, in the order of PERMISSIONS. A client tool can only be denied. */
function checkTool(pointer: string, tool: unknown, runtime: AgentRuntime, problems: FieldProblems): void {
  const { name, permission } = isObject(tool) ? tool : {};
  const allowed = typeof name === 'string' ? stricterPermissions(name, runtime.tools) : undefined;
  if (!allowed) problems.add(`${pointer}/name`, 'must name a tool of the agent');
  else if (!allowed.some((one) => one === permission))
    problems.add(
      `${pointer}/permission`,
      `must be one of ${allowed.join(', ')}: an override can only make it stricter`,
    );
}

/** Undefined for a tool that the agent does not have. */
function stricterPermissions(name: string, tools: readonly AgentTool[]): readonly Permission[] | undefined {
  const listed = tools.find((tool) => tool.name === name);
  if (listed?.client) return ['allow', 'deny'];
  const isMcpTool = listed !== undefined && serverOfEntry(name) !== undefined;
  if (!isToolName(name) && !isMcpTool) return undefined;
  const initial = isToolName(name) ? TOOLS[name].permission : 'allow';
  const own = PERMISSIONS.find((one) => one === listed?.permission) ?? initial;
  return PERMISSIONS.slice(PERMISSIONS.indexOf(own));
}

function checkLimit(
  name: string,
  limit: unknown,
  limits: Record<string, number | undefined>,
  problems: FieldProblems,
): void {
  const pointer = `/budget${pointerSegment(name)}`;
  if (!Object.hasOwn(limits, name)) {
    problems.add(pointer, 'is not a known member');
    return;
  }
  const max = limits[name] ?? MAX_INT32;
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > max)
    problems.add(
      pointer,
      `must be a whole number from 1 to ${max}: an override can only lower the limit of the agent`,
    );
}

const MAX_INT32 = 2 ** 31 - 1;

export function modelInForce({ model }: Overrides, runtime: AgentRuntime): string {
  return typeof model === 'string' ? model : runtime.model;
}

/** The model in force must know the options in force. */
function checkOptionNames(overrides: Overrides, runtime: AgentRuntime, problems: FieldProblems): void {
  const { model, model_options: options } = overrides;
  if (typeof model !== 'string' && !isObject(options)) return;
  const name = modelInForce(overrides, runtime);
  checkModelOptionNames(
    name,
    isObject(options) ? JSON.stringify(options) : runtime.modelOptionsJson,
    problems,
  );
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
