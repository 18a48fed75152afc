import { type Static, Type } from 'typebox';
import type { Tool as ToolMessage } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { AnyObject, closed, optional, text } from './common.ts';

const BuiltInTool = closed(
  {
    name: text('The name of a built-in tool or of an MCP tool.', { minLength: 1, maxLength: 128 }),
    permission: optional(
      Type.Enum(['allow', 'ask', 'deny'], {
        description:
          "Whether the agent can use the tool: `allow`, `ask` for an approval, or `deny`. Default: the tool's own default.",
      }),
    ),
  },
  { title: 'Tool' },
);

/** A tool that the client runs, without its type, as in `client_tools`. */
export const clientToolMembers = {
  name: text(
    'The name of the tool: 1–64 letters, digits, `_` and `-`. Not the name of a built-in tool, and not beginning with `mcp__`.',
    { minLength: 1, maxLength: 64 },
  ),
  description: text('Describes for the model what the tool does and when to use it.', {
    minLength: 1,
    maxLength: 8_192,
  }),
  input_schema: AnyObject(
    'A JSON Schema of the input, with `type: "object"`, of at most 64 KiB and 32 levels. An input that does not match is an ' +
      'error for the model.',
  ),
};

const ClientTool = closed(
  { type: Type.Literal('client'), ...clientToolMembers },
  {
    title: 'ClientTool',
    description:
      'A tool that the client runs. A call stops the turn until the client submits the result to `tool-results`.',
  },
);

export const Tool = Type.Union([BuiltInTool, ClientTool]);
type AnyTool = Static<typeof Tool>;

export function toolMessage(tool: AnyTool): ToolMessage {
  if (!('type' in tool)) return { name: tool.name, permission: tool.permission ?? '', client: undefined };
  const { name, description, input_schema: schema } = tool;
  return { name, permission: '', client: { description, inputSchemaJson: JSON.stringify(schema) } };
}

export function shownTool({ name, permission, client }: ToolMessage): AnyTool {
  // The schema of responses admits only permissions of this release.
  if (!client) return { name, permission } as AnyTool;
  const { description, inputSchemaJson } = client;
  return { type: 'client', name, description, input_schema: JSON.parse(inputSchemaJson) };
}
