import { type Static, Type } from 'typebox';
import type { AgentRuntime } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { AnyObject, closed, flag, Metadata, NULL, nullable, optional, text } from './common.ts';

const INT32 = 2_147_483_647;
const DEFAULT_MAX_STEPS = 32;

const Tool = closed(
  {
    name: text('The name of a tool of this release, or of an MCP tool.', { minLength: 1, maxLength: 128 }),
    permission: optional(
      Type.Enum(['allow', 'ask', 'deny'], {
        description: "Whether the agent may use it. Left out, it is the tool's default.",
      }),
    ),
  },
  { title: 'Tool' },
);

const Budget = closed(
  {
    max_tokens: optional(
      Type.Integer({ minimum: 1, maximum: INT32, description: 'Output tokens of one turn.' }),
    ),
    max_turn_seconds: optional(
      Type.Integer({ minimum: 1, maximum: INT32, description: 'Seconds of one turn.' }),
    ),
  },
  {
    title: 'Budget',
    description: 'Limits of one turn. An absent member sets none.',
    examples: [{ max_turn_seconds: 600 }],
  },
);

export const name = text('What people call it.', { minLength: 1, maxLength: 200, examples: ['Echo'] });
export const description = text('What it is for.', { maxLength: 2_000, examples: ['Says what it hears.'] });
const model = text(
  '`<provider>/<model id>`. Built in: `rehearsal/echo`, `rehearsal/script` and `rehearsal/shell`, which need no key.',
  {
    minLength: 1,
    maxLength: 200,
    examples: ['rehearsal/echo'],
  },
);
const modelOptions = AnyObject('Options for the model, handed over as they are.');
const system = text('The system prompt.', { maxLength: 262_144, examples: ['Say what you hear.'] });
const environment = nullable(
  text('The environment to run in, which has to be there; null is the default one.', { maxLength: 100 }),
  NULL,
);
const tools = Type.Array(Tool, { maxItems: 200, examples: [[]] });
const maxSteps = Type.Integer({
  minimum: 1,
  maximum: 1_000,
  description: 'Model steps one turn may take.',
  examples: [32],
});
export const enabled = flag('Whether new sessions may start.');

/** What an agent and an assistant are made of, as their creation takes it. */
export const creation = {
  name,
  description: optional(description),
  model,
  model_options: optional(modelOptions),
  system: optional(system),
  environment_id: optional(environment),
  tools: optional(tools),
  max_steps: optional(maxSteps),
  budget: optional(Budget),
  metadata: optional(Metadata),
  enabled: optional(enabled),
};

/** The same, as their change takes it. */
export const patch = {
  name: optional(name),
  description: optional(nullable(description)),
  model: optional(model),
  model_options: optional(nullable(modelOptions)),
  system: optional(nullable(system)),
  environment_id: optional(environment),
  tools: optional(nullable(tools)),
  max_steps: optional(maxSteps),
  budget: optional(nullable(Budget)),
  metadata: optional(nullable(Metadata)),
  enabled: optional(enabled),
};

/** What turns run with, as it is shown. */
export const runtime = {
  model,
  model_options: modelOptions,
  system,
  environment_id: environment,
  tools,
  max_steps: maxSteps,
  budget: Budget,
};

const Creation = closed(creation);
const Patch = closed(patch);

/** What the service is told of a creation. */
export function created(body: Static<typeof Creation>) {
  return {
    name: body.name,
    description: body.description ?? '',
    runtime: {
      model: body.model,
      modelOptionsJson: JSON.stringify(body.model_options ?? {}),
      system: body.system ?? '',
      environmentId: body.environment_id ?? '',
      tools: toolsOf(body.tools),
      maxSteps: body.max_steps ?? DEFAULT_MAX_STEPS,
      budget: budgetOf(body.budget),
    },
    metadata: body.metadata ?? {},
    enabled: body.enabled ?? true,
  };
}

/** What the service is told of a change: absent members are undefined, and null is what stands for nothing. */
export function patched(body: Static<typeof Patch>) {
  return {
    name: body.name,
    description: cleared(body.description, ''),
    model: body.model,
    modelOptionsJson: body.model_options === undefined ? undefined : JSON.stringify(body.model_options ?? {}),
    system: cleared(body.system, ''),
    environmentId: cleared(body.environment_id, ''),
    tools: body.tools === undefined ? undefined : { tools: toolsOf(body.tools) },
    maxSteps: body.max_steps,
    budget: body.budget === undefined ? undefined : budgetOf(body.budget),
    metadata: body.metadata === undefined ? undefined : { entries: body.metadata ?? {} },
    enabled: body.enabled,
  };
}

export function shownRuntime(shown: AgentRuntime | undefined) {
  const { maxTokens, maxTurnSeconds } = shown?.budget ?? {};
  return {
    model: shown?.model,
    model_options: JSON.parse(shown?.modelOptionsJson || '{}'),
    system: shown?.system,
    environment_id: shown?.environmentId || null,
    tools: shown?.tools ?? [],
    max_steps: shown?.maxSteps,
    budget: { max_tokens: maxTokens, max_turn_seconds: maxTurnSeconds },
  };
}

/** Without a permission, each is to have the one that is safe for it. */
function toolsOf(given: readonly Static<typeof Tool>[] | null | undefined) {
  return (given ?? []).map(({ name: tool, permission = '' }) => ({ name: tool, permission }));
}

function budgetOf(budget: Static<typeof Budget> | null | undefined) {
  return { maxTokens: budget?.max_tokens, maxTurnSeconds: budget?.max_turn_seconds };
}

function cleared<Value>(value: Value | null | undefined, nothing: Value): Value | undefined {
  return value === null ? nothing : value;
}
