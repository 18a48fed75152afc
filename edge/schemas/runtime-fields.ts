import { type Static, type TSchema, Type } from 'typebox';
import type { AgentRuntime, UpdateAgentRequest } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { AnyObject, closed, NULL, nullable, optional, text } from './common.ts';
import { ContextSettings, contextMessage, shownContext } from './context-settings.ts';
import { OutputSchema } from './output-schema.ts';
import { shownTool, Tool, toolMessage } from './tool-settings.ts';

/** The settings of a turn that a conversation or a message can override. */
const OVERRIDABLE = [
  'model',
  'system',
  'tools',
  'client_tools',
  'model_options',
  'max_steps',
  'budget',
  'output_schema',
] as const;
const INT32 = 2_147_483_647;
const DEFAULT_MAX_STEPS = 32;

export const Budget = closed(
  {
    max_tokens: optional(
      Type.Integer({
        minimum: 1,
        maximum: INT32,
        description: 'The maximum number of output tokens of one turn.',
      }),
    ),
    max_turn_seconds: optional(
      Type.Integer({
        minimum: 1,
        maximum: INT32,
        description: 'The maximum duration of one turn in seconds.',
      }),
    ),
  },
  {
    title: 'Budget',
    description: 'Limits of one turn. An omitted member sets no limit.',
    examples: [{ max_turn_seconds: 600 }],
  },
);

const ModelName = text(
  '`<provider>/<model id>`. Built in: `rehearsal/echo`, `rehearsal/script` and `rehearsal/shell`, which need no API key.',
  { title: 'ModelName', minLength: 1, maxLength: 200, examples: ['rehearsal/echo'] },
);

/**
 * The table of the members that configure turns, by their names in the API. The schemas of requests and responses and
 * the conversions to and from messages are derived from it. A new member needs one row.
 */
export const RUNTIME_FIELDS = {
  model: field({
    contract: 'model',
    schemas: omissible(ModelName),
    initial: '',
    encode: same,
    wrap: same,
    decode: same,
  }),

  models: field({
    contract: 'models',
    schemas: clearable(
      Type.Array(ModelName, {
        title: 'ModelNames',
        minItems: 1,
        maxItems: 10,
        description:
          'The models in the order in which they are tried. When the retries of one are spent because its provider is overloaded ' +
          'or unreachable, the turn continues with the next one that has the needed capabilities. The first is `model`: it can ' +
          'be omitted there, and another value is refused. A change of `model` alone keeps the others.',
        examples: [['anthropic/claude-sonnet-5-5', 'openai/gpt-6-sol']],
      }),
    ),
    initial: { names: [] },
    encode: (names) => ({ names }),
    wrap: same,
    decode: (list, runtime) => (list?.names.length ? list.names : [runtime?.model ?? '']),
  }),

  model_options: field({
    contract: 'modelOptionsJson',
    schemas: clearable(AnyObject('Options that are passed to the model unchanged.', 'ModelOptions')),
    initial: '{}',
    encode: (options) => JSON.stringify(options),
    wrap: same,
    decode: (json) => JSON.parse(json || '{}') as Record<string, unknown>,
  }),

  system: field({
    contract: 'system',
    schemas: clearable(
      text('The system prompt.', {
        title: 'SystemPrompt',
        maxLength: 262_144,
        examples: ['Say what you hear.'],
      }),
    ),
    initial: '',
    encode: same,
    wrap: same,
    decode: same,
  }),

  environment_id: field({
    contract: 'environmentId',
    schemas: omissible(
      nullable(
        text('The id or name of an existing environment; null for the default environment.', {
          title: 'EnvironmentReference',
          maxLength: 100,
        }),
        NULL,
      ),
    ),
    initial: '',
    encode: same,
    wrap: same,
    decode: (id) => id || null,
  }),

  tools: field({
    contract: 'tools',
    schemas: clearable(Type.Array(Tool, { title: 'ToolSettings', maxItems: 200, examples: [[]] })),
    initial: [],
    /** For a tool without a permission, the service applies the default of the tool. */
    encode: (tools) => tools.map(toolMessage),
    wrap: (tools) => ({ tools }),
    decode: (tools) => (tools ?? []).map(shownTool),
  }),

  max_steps: field({
    contract: 'maxSteps',
    schemas: omissible(
      Type.Integer({
        title: 'MaxSteps',
        minimum: 1,
        maximum: 1_000,
        description: 'The maximum number of model steps of one turn.',
        examples: [32],
      }),
    ),
    initial: DEFAULT_MAX_STEPS,
    encode: same,
    wrap: same,
    decode: same,
  }),

  budget: field({
    contract: 'budget',
    schemas: clearable(Budget),
    initial: {},
    encode: ({ max_tokens, max_turn_seconds }) => ({
      maxTokens: max_tokens,
      maxTurnSeconds: max_turn_seconds,
    }),
    wrap: same,
    decode: (budget) => ({ max_tokens: budget?.maxTokens, max_turn_seconds: budget?.maxTurnSeconds }),
  }),

  output_schema: field({
    contract: 'outputSchemaJson',
    schemas: {
      creation: optional(nullable(OutputSchema)),
      patch: optional(nullable(OutputSchema)),
      response: nullable(OutputSchema, NULL),
    },
    initial: '',
    encode: (schema) => JSON.stringify(schema),
    wrap: same,
    decode: (json) => JSON.parse(json || 'null') as Record<string, unknown> | boolean | null,
  }),

  overridable: field({
    contract: 'overridable',
    schemas: clearable(
      Type.Array(Type.Enum([...OVERRIDABLE]), {
        title: 'OverridableFields',
        maxItems: OVERRIDABLE.length,
        description: 'The settings that a conversation or a message may override.',
        examples: [['model', 'output_schema']],
      }),
    ),
    initial: { names: [] },
    encode: (names) => ({ names }),
    wrap: same,
    // The schema of responses admits only the names of this release.
    decode: (list) => (list?.names ?? []) as (typeof OVERRIDABLE)[number][],
  }),

  context: field({
    contract: 'context',
    schemas: clearable(ContextSettings),
    initial: {},
    encode: contextMessage,
    wrap: same,
    decode: shownContext,
  }),
};

/** The schemas of one member. */
interface MemberSchemas {
  creation: TSchema;
  patch: TSchema;
  response: TSchema;
}

type MessageField = keyof AgentRuntime & keyof UpdateAgentRequest;

export interface RuntimeField<
  Contract extends MessageField = MessageField,
  Schemas extends MemberSchemas = MemberSchemas,
> {
  /** The field of `AgentRuntime` and of the update requests. */
  contract: Contract;
  schemas: Schemas;
  /** The value of the message when a creation omits the member or a change clears it. */
  initial: NonNullable<AgentRuntime[Contract]>;
  encode(value: NonNullable<Static<Schemas['patch']>>): NonNullable<AgentRuntime[Contract]>;
  /** Converts a value to the field of an update request, which wraps a list in a message so that it can be absent. */
  wrap(value: NonNullable<AgentRuntime[Contract]>): NonNullable<UpdateAgentRequest[Contract]>;
  decode(value: AgentRuntime[Contract] | undefined, runtime: AgentRuntime | undefined): unknown;
}

function field<Contract extends MessageField, Schemas extends MemberSchemas, Shown>(
  row: RuntimeField<Contract, Schemas> & {
    decode(value: AgentRuntime[Contract] | undefined, runtime: AgentRuntime | undefined): Shown;
  },
) {
  return row;
}

function same<Value>(value: Value): Value {
  return value;
}

/** A creation can omit the member. A change of it to null is valid only if the schema permits null. */
function omissible<S extends TSchema>(schema: S) {
  return { creation: optional(schema), patch: optional(schema), response: schema };
}

/** A creation can omit the member, and a change to null resets it to its initial value. */
function clearable<S extends TSchema>(schema: S) {
  return { creation: optional(schema), patch: optional(nullable(schema)), response: schema };
}
