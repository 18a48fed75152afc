import { Type } from 'typebox';
import type { Exposure } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { closed, optional } from './common.ts';

const members = {
  mcp: Type.Enum(['on', 'off'], { description: 'Whether MCP clients find the agent. Default: `on`.' }),
  openai: Type.Enum(['on', 'off'], {
    description: 'Whether clients of the OpenAI-compatible API find the agent. Default: `on`.',
  }),
  a2a: Type.Enum(['off', 'on', 'public'], {
    description:
      'Whether A2A clients find the agent. With `public`, its agent card can be read without a credential. Default: `off`.',
  }),
};

export const ExposureShape = Type.Object(members, {
  title: 'Exposure',
  description:
    'The protocols in which users who can use the agent find it. A change makes no new version and takes effect immediately.',
});

export const ExposureChange = closed(
  { mcp: optional(members.mcp), openai: optional(members.openai), a2a: optional(members.a2a) },
  { title: 'ExposureChange', description: 'Omitted members stay unchanged, or get their defaults.' },
);

/** An agents service of an older release states no exposure and offers no protocol. */
export function serializeExposure(exposure: Exposure | undefined): Exposure {
  return exposure ?? { mcp: 'off', openai: 'off', a2a: 'off' };
}
