import { Type } from 'typebox';
import type { Agent, AgentVersion } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { visibility } from './access.ts';
import { closed, count, id, Metadata, optional, shownTime, time } from './common.ts';
import { creation, description, enabled, name, patch, runtime, shownRuntime } from './runtime.ts';

export const AgentCreation = closed({ ...creation, visibility: optional(visibility) });
export const AgentPatch = closed({ ...patch, visibility: optional(visibility) });

export const AgentShape = Type.Object(
  {
    agent_id: id('agt', 'the agent'),
    name,
    description,
    ...runtime,
    metadata: Metadata,
    enabled,
    visibility,
    access: Type.Enum(['use', 'manage'], {
      description:
        'What you may do with it: begin conversations, or change, share, deploy and delete it, too.',
    }),
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

export function shownAgent(agent: Agent | undefined) {
  return {
    agent_id: agent?.agentId,
    name: agent?.name,
    description: agent?.description,
    ...shownRuntime(agent?.runtime),
    metadata: agent?.metadata,
    enabled: agent?.enabled,
    visibility: agent?.visibility,
    access: agent?.level,
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
