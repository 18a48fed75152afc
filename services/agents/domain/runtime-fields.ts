import { type FieldProblems, pointerSegment } from '../../../lib/field-problems.ts';
import { serverOfEntry } from '../../../lib/mcp-catalogue/tool-names.ts';
import { isToolName, PERMISSIONS, TOOLS } from '../../../lib/tools.ts';
import { type ClientTool, checkClientTool, sameClientTool } from './client-tools.ts';
import { type ContextSettings, checkContext, contextOfJson, contextToJson } from './context-settings.ts';
import { checkModels, type ModelNames } from './model-list-field.ts';
import { checkModelOptions, sameOptions } from './model-options.ts';
import { type ModelProviders, modelProblem } from './models.ts';
import { checkSchemaText } from './output-schema.ts';
import { OVERRIDABLE } from './overridable.ts';

/**
 * The table of the fields that make up a version of an agent: their columns, codecs, equality and rules. Request
 * mapping, version comparison and SQL are derived from it. A new field needs one row here, a field in the contract
 * (`AgentRuntime` and both update requests), a migration, the API's schema and its consumer in the runner.
 */
export const RUNTIME_FIELDS = {
  /** `<provider>/<model id>` */
  model: field<string>('model', {
    initial: '',
    check(model, problems, providers) {
      const problem = modelProblem(model, providers);
      if (problem) problems.add('/model', problem);
    },
  }),

  /** The form reduces a list of one model. */
  models: fieldOf<ModelNames>({
    columns: ['models'],
    initial: { names: [] },
    encode: ({ names }) => [JSON.stringify(names)],
    decode: ([names]) => ({ names: names as string[] }),
    equals: (one, other) => one.names.join() === other.names.join(),
    check: (models, problems, providers) => checkModels(models, problems, providers),
  }),

  /** A JSON object. */
  modelOptionsJson: field<string>('model_options', {
    initial: '',
    normalize: (json) => json || '{}',
    equals: sameOptions,
    textBytes: Buffer.byteLength,
    check: checkModelOptions,
  }),

  system: field<string>('system', {
    initial: '',
    textBytes: Buffer.byteLength,
    check(system, problems) {
      problems.storable('/system', system);
      if (Buffer.byteLength(system) > MAX_SYSTEM_BYTES)
        problems.add('/system', 'must be at most 256 KiB long');
    },
  }),

  /** env_…; empty for the default environment. The store checks that it exists. */
  environmentId: field<string>('environment_id', { initial: '' }),

  tools: field<AgentTool[], { tools: AgentTool[] }>('tools', {
    initial: [],
    encode: (tools) => JSON.stringify(tools),
    fromPatch: ({ tools }) => tools,
    normalize: (tools) => tools.map(withDefaultPermission),
    equals: (one, other) => one.length === other.length && one.every((tool, at) => sameTool(tool, other[at])),
    textBytes: (tools) => Buffer.byteLength(JSON.stringify(tools)),
    check: checkTools,
  }),

  maxSteps: field<number>('max_steps', {
    initial: 0,
    check: (steps, problems) => problems.range('/max_steps', steps, 1, 1_000),
  }),

  budget: fieldOf<TurnBudget>({
    columns: ['max_tokens', 'max_turn_seconds'],
    initial: {},
    encode: ({ maxTokens, maxTurnSeconds }) => [maxTokens ?? null, maxTurnSeconds ?? null],
    decode: ([maxTokens, maxTurnSeconds]) => ({
      maxTokens: (maxTokens as number | null) ?? undefined,
      maxTurnSeconds: (maxTurnSeconds as number | null) ?? undefined,
    }),
    equals: (one, other) => one.maxTokens === other.maxTokens && one.maxTurnSeconds === other.maxTurnSeconds,
    check({ maxTokens, maxTurnSeconds }, problems) {
      if (maxTokens !== undefined) problems.range('/budget/max_tokens', maxTokens, 1, MAX_INT32);
      if (maxTurnSeconds !== undefined)
        problems.range('/budget/max_turn_seconds', maxTurnSeconds, 1, MAX_INT32);
    },
  }),

  /** JSON text of a JSON Schema; empty: the answer is text. */
  outputSchemaJson: field<string>('output_schema', {
    initial: '',
    textBytes: Buffer.byteLength,
    check(json, problems) {
      if (json !== '') checkSchemaText('/output_schema', json, problems);
    },
  }),

  overridable: fieldOf<{ names: string[] }>({
    columns: ['overridable'],
    initial: { names: [] },
    encode: ({ names }) => [JSON.stringify(names)],
    decode: ([names]) => ({ names: names as string[] }),
    normalize: ({ names }) => ({ names: [...new Set(names)] }),
    equals: (one, other) => one.names.toSorted().join() === other.names.toSorted().join(),
    check({ names }, problems) {
      for (const [index, name] of names.entries())
        problems.oneOf(`/overridable${pointerSegment(index)}`, name, OVERRIDABLE);
    },
  }),

  context: fieldOf<ContextSettings>({
    columns: ['context'],
    initial: {},
    encode: (settings) => [contextToJson(settings)],
    decode: ([settings]) => contextOfJson(settings),
    equals: (one, other) => contextToJson(one) === contextToJson(other),
    textBytes: ({ instructions = '' }) => Buffer.byteLength(instructions),
    check: checkContext,
  }),

  /** The MCP servers of the agent, which PutExtensions alone changes. The store checks that they exist. */
  mcpServers: fieldOf<{ ids: string[] }>({
    columns: ['mcp_server_ids'],
    initial: { ids: [] },
    encode: ({ ids }) => [ids],
    decode: ([ids]) => ({ ids: ids as string[] }),
    equals: (one, other) => one.ids.toSorted().join() === other.ids.toSorted().join(),
  }),

  /** The skills of the agent, which PutExtensions alone changes. The store checks that they exist. */
  skills: fieldOf<{ items: PinnedSkill[] }>({
    columns: ['skills'],
    initial: { items: [] },
    encode: ({ items }) => [JSON.stringify(items)],
    decode: ([items]) => ({ items: items as PinnedSkill[] }),
    equals: (one, other) => pinsOf(one.items) === pinsOf(other.items),
  }),
};

/** A version of a skill with the values that never change. */
export interface PinnedSkill {
  /** skl_… */
  id: string;
  name: string;
  version: number;
  description: string;
  /** wsp_… */
  workspaceId: string;
}

const pinsOf = (items: readonly PinnedSkill[]) =>
  items
    .map(({ id, version }) => `${id}@${version}`)
    .toSorted()
    .join();

/** The permission for a built-in tool, or a tool that the client runs. */
export interface AgentTool {
  name: string;
  /** allow | ask | deny; empty in a request for the tool's default, and for a client tool. */
  permission: string;
  client?: ClientTool | undefined;
}

/** Absent members set no limit. */
interface TurnBudget {
  maxTokens?: number | undefined;
  maxTurnSeconds?: number | undefined;
}

export interface RuntimeField<Value, Patch = Value> {
  /** Columns of `agent_versions`, in the order of the values of `encode` and `decode`. */
  columns: readonly string[];
  /** The value when a request to create leaves the field out. */
  initial: Value;
  encode(value: Value): unknown[];
  decode(values: readonly unknown[]): Value;
  /** Reads the field of an update request, which wraps a list in a message so that it can be absent. */
  fromPatch(patch: Patch): Value;
  /** Returns the value as it is stored. */
  normalize(value: Value): Value;
  /** A change to a value that is not equal makes a new version. */
  equals(one: Value, other: Value): boolean;
  /** UTF-8 bytes of a text that can be long, for the limit of a page; 0 for other fields. */
  textBytes(value: Value): number;
  /** Reports the problems of a normalized value, with pointers into the body of the public request. */
  check(value: Value, problems: FieldProblems, context: RuntimeContext): void;
}

export type RuntimeContext = ModelProviders;

type Rules<Value, Patch> = Pick<RuntimeField<Value, Patch>, 'initial'> &
  Partial<Omit<RuntimeField<Value, Patch>, 'columns' | 'initial' | 'encode' | 'decode'>>;

const MAX_SYSTEM_BYTES = 256 * 1024;
const MAX_INT32 = 2 ** 31 - 1;

/** A field in one column. The driver returns the decoded value; `encode` makes the parameter. */
function field<Value, Patch = Value>(
  column: string,
  { encode, ...rules }: Rules<Value, Patch> & { encode?: (value: Value) => unknown },
): RuntimeField<Value, Patch> {
  return fieldOf<Value, Patch>({
    ...rules,
    columns: [column],
    encode: (value) => [encode ? encode(value) : value],
    decode: ([value]) => value as Value,
  });
}

function fieldOf<Value, Patch = Value>(
  rules: Rules<Value, Patch> & Pick<RuntimeField<Value, Patch>, 'columns' | 'encode' | 'decode'>,
): RuntimeField<Value, Patch> {
  return {
    fromPatch: (patch) => patch as unknown as Value,
    normalize: (value) => value,
    equals: (one, other) => one === other,
    textBytes: () => 0,
    check: () => {},
    ...rules,
  };
}

/** Stores the default with the version, so that a later release with other defaults does not change it. */
function withDefaultPermission(tool: AgentTool): AgentTool {
  const { name, permission, client } = tool;
  if (client) return tool;
  return { name, permission: permission === '' ? defaultPermission(name) : permission };
}

/** The review of an MCP server decides about a tool that the agent allows. */
function defaultPermission(name: string): string {
  if (isToolName(name)) return TOOLS[name].permission;
  return serverOfEntry(name) === undefined ? '' : 'allow';
}

function sameTool(one: AgentTool, other: AgentTool | undefined): boolean {
  return (
    one.name === other?.name &&
    one.permission === other.permission &&
    sameClientTool(one.client, other.client)
  );
}

function checkTools(tools: readonly AgentTool[], problems: FieldProblems): void {
  const seen = new Set<string>();
  for (const [index, { name, permission, client }] of tools.entries()) {
    const pointer = `/tools${pointerSegment(index)}`;
    if (client) checkClientTool(name, client, pointer, problems);
    else if (!isToolName(name) && serverOfEntry(name) === undefined)
      problems.add(`${pointer}/name`, 'must name a tool of this release or of an MCP server');
    if (seen.has(name)) problems.add(`${pointer}/name`, 'must not repeat an earlier tool');
    seen.add(name);
    if (permission !== '') problems.oneOf(`${pointer}/permission`, permission, PERMISSIONS);
  }
}
