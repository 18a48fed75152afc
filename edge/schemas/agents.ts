import { Type } from 'typebox';
import type { Agent, AgentVersion } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { visibility } from './access.ts';
import { closed, count, id, Metadata, optional, revision, serializeTime, time } from './common.ts';
import { ExposureChange, ExposureShape, serializeExposure } from './exposure.ts';
import { creation, description, enabled, name, patch, runtime, serializeRuntime } from './runtime.ts';

const shared = { visibility: optional(visibility), exposure: optional(ExposureChange) };

export const AgentCreation = closed({ ...creation, ...shared });
export const AgentPatch = closed({ ...patch, ...shared });

export const AgentShape = Type.Object(
  {
    agent_id: id('agt', 'the agent'),
    name,
    description,
    ...runtime,
    metadata: Metadata,
    enabled,
    visibility,
    exposure: ExposureShape,
    access: Type.Enum(['use', 'manage'], {
      description:
        'Your access: `use` allows conversations, `manage` also allows changing, sharing, deploying and deleting the agent.',
    }),
    version: count('The newest version of the configuration of turns. Starts at 1.'),
    revision,
    created_by: id('usr', 'the user who created the agent'),
    created_at: time('The creation time.'),
    updated_at: time('The time of the last change.'),
  },
  { title: 'Agent' },
);

export const AgentVersionShape = Type.Object(
  {
    agent_id: id('agt', 'the agent'),
    version: count('The version number.'),
    ...runtime,
    created_by: id('usr', 'the user who created the version'),
    created_at: time('The creation time.'),
  },
  {
    title: 'AgentVersion',
    description: 'The configuration of turns that run with this version. Versions are immutable.',
  },
);

export function serializeAgent(agent: Agent | undefined) {
  return {
    agent_id: agent?.agentId,
    name: agent?.name,
    description: agent?.description,
    ...serializeRuntime(agent?.runtime),
    metadata: agent?.metadata,
    enabled: agent?.enabled,
    visibility: agent?.visibility,
    exposure: serializeExposure(agent?.exposure),
    access: agent?.level,
    version: agent?.version,
    revision: agent?.revision ?? agent?.version,
    created_by: agent?.createdBy,
    created_at: serializeTime(agent?.createdAt),
    updated_at: serializeTime(agent?.updatedAt),
  };
}

export function serializeAgentVersion(version: AgentVersion) {
  return {
    agent_id: version.agentId,
    version: version.version,
    ...serializeRuntime(version.runtime),
    created_by: version.createdBy,
    created_at: serializeTime(version.createdAt),
  };
}
