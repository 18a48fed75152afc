import { type Static, Type } from 'typebox';
import type { Agent, AgentRuntime, AgentVersion } from '../../proto/gen/ahs/agents/v1/agents.ts';
import {
  AnyObject,
  closed,
  count,
  flag,
  id,
  Metadata,
  NULL,
  nullable,
  optional,
  shownTime,
  text,
  time,
} from './common.ts';

const INT32 = 2_147_483_647;

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

const name = text('What people call it.', { minLength: 1, maxLength: 200, examples: ['Echo'] });
const description = text('What it is for.', { maxLength: 2_000, examples: ['Says what it hears.'] });
const model = text(
  '`<provider>/<model id>`. Built in: `rehearsal/echo` and `rehearsal/script`, which need no key.',
  {
    minLength: 1,
    maxLength: 200,
    examples: ['rehearsal/echo'],
  },
);
const modelOptions = AnyObject('Options for the model, handed over as they are.');
const system = text('The system prompt.', { maxLength: 262_144, examples: ['Say what you hear.'] });
const environment = nullable(
  text('The environment to run in; null is the default one.', { maxLength: 100 }),
  NULL,
);
const tools = Type.Array(Tool, { maxItems: 200, examples: [[]] });
const maxSteps = Type.Integer({
  minimum: 1,
  maximum: 1_000,
  description: 'Model steps one turn may take.',
  examples: [32],
});
const enabled = flag('Whether new sessions may start.');
const visibility = Type.Enum(['private', 'public', 'allowlist'], { description: 'Who may see it.' });

export const AgentCreation = closed({
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
  visibility: optional(visibility),
});

export const AgentPatch = closed({
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
  visibility: optional(visibility),
});

const runtime = {
  model,
  model_options: modelOptions,
  system,
  environment_id: environment,
  tools,
  max_steps: maxSteps,
  budget: Budget,
};

export const AgentShape = Type.Object(
  {
    agent_id: id('agt', 'the agent'),
    name,
    description,
    ...runtime,
    metadata: Metadata,
    enabled,
    visibility,
    version: count('1, 2, 3 …: the newest version.'),
    created_by: id('usr', 'who created it'),
    created_at: time('When it was created.'),
    updated_at: time('When it last changed.'),
  },
  { title: 'Agent' },
);

export const AgentVersionShape = Type.Object(
  {
    agent_id: id('agt', 'the agent'),
    version: count('Its number.'),
    ...runtime,
    created_by: id('usr', 'who made it'),
    created_at: time('When it was made.'),
  },
  { title: 'AgentVersion', description: 'What turns of this version run with. It never changes.' },
);

export type AgentCreation = Static<typeof AgentCreation>;
export type AgentPatch = Static<typeof AgentPatch>;

/** Without a permission, each is to have the one that is safe for it. */
export function toolsOf(tools: readonly Static<typeof Tool>[] | null | undefined) {
  return (tools ?? []).map(({ name, permission = '' }) => ({ name, permission }));
}

function shownRuntime(shown: AgentRuntime | undefined) {
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

export function shownAgent(agent: Agent | undefined) {
  return {
    agent_id: agent?.agentId,
    name: agent?.name,
    description: agent?.description,
    ...shownRuntime(agent?.runtime),
    metadata: agent?.metadata,
    enabled: agent?.enabled,
    visibility: agent?.visibility,
    version: agent?.version,
    created_by: agent?.createdBy,
    created_at: shownTime(agent?.createdAt),
    updated_at: shownTime(agent?.updatedAt),
  };
}

export function shownVersion(version: AgentVersion) {
  return {
    agent_id: version.agentId,
    version: version.version,
    ...shownRuntime(version.runtime),
    created_by: version.createdBy,
    created_at: shownTime(version.createdAt),
  };
}
