import { type Static, Type } from 'typebox';
import type { MessageOverrides } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { AnyObject, closed, optional, text } from './common.ts';
import { OutputSchema } from './output-schema.ts';
import { Budget } from './runtime-fields.ts';
import { clientToolMembers } from './tool-settings.ts';

const SystemOverride = closed(
  {
    mode: Type.Enum(['append', 'replace'], {
      description: "`append` adds the text behind the agent's system prompt, `replace` replaces the prompt.",
    }),
    text: text('The text.', { maxLength: 262_144 }),
  },
  { title: 'SystemOverride', examples: [{ mode: 'append', text: 'Answer in French.' }] },
);

const ToolOverride = closed(
  {
    name: text('The name of a tool of the agent.', { minLength: 1, maxLength: 128 }),
    permission: Type.Enum(['allow', 'ask', 'deny'], {
      description: "The agent's permission or a stricter one.",
    }),
  },
  { title: 'ToolOverride' },
);

const ClientToolOverride = closed(clientToolMembers, {
  title: 'ClientToolOverride',
  description: 'A tool that the client runs.',
});

/**
 * The members of a body that override settings of the agent. A member is refused with OVERRIDE_NOT_ALLOWED unless the
 * agent's `overridable` names it.
 */
export const overrideMembers = {
  model: optional(text('Overrides the model.', { minLength: 1, maxLength: 200, title: 'ModelOverride' })),
  system: optional(SystemOverride),
  tools: optional(
    Type.Array(ToolOverride, {
      maxItems: 200,
      title: 'ToolOverrides',
      description: 'Makes permissions stricter.',
    }),
  ),
  client_tools: optional(
    Type.Array(ClientToolOverride, {
      maxItems: 200,
      title: 'ClientToolOverrides',
      description: 'Adds tools that the client runs.',
    }),
  ),
  model_options: optional(AnyObject("Replaces the agent's `model_options`.", 'ModelOptionsOverride')),
  max_steps: optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000,
      title: 'MaxStepsOverride',
      description: 'Overrides the maximum number of model steps.',
    }),
  ),
  budget: optional(Budget),
  output_schema: optional(OutputSchema),
};

const NAMES = Object.keys(overrideMembers) as (keyof typeof overrideMembers)[];

const Overrides = closed(overrideMembers);

/** Returns the overrides of a body as services exchange them. Undefined for none. */
export function overridesOf(body: Static<typeof Overrides>): MessageOverrides | undefined {
  const given = NAMES.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]]));
  return given.length === 0 ? undefined : { json: JSON.stringify(Object.fromEntries(given)) };
}
