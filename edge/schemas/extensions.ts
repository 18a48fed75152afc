import { Type } from 'typebox';
import type { ExtensionMcpServer, ExtensionSkill, Extensions } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { closed, count, flag, id, optional, revision, text } from './common.ts';

const ids = Type.Array(id('mcp', 'an MCP server'), { maxItems: 20 });

const skillIds = Type.Array(id('skl', 'a skill, with @ and a version to pin'), {
  maxItems: 50,
  description:
    'Omitted: the skills stay. A skill without a version keeps its pinned one, or gets the newest one.',
});

export const ExtensionsChange = closed({ mcp_server_ids: ids, skill_ids: optional(skillIds) });

const Server = Type.Object(
  {
    mcp_server_id: id('mcp', 'the MCP server'),
    name: text('The name.', { examples: ['github'] }),
    description: text('The description.'),
    state: Type.Enum(['ready', 'unreviewed', 'changed', 'disabled', 'deleted'], {
      description: 'Whether its tools are offered. `changed`: the changed tools are not called.',
    }),
    tool_count: count('The tools of the reviewed catalogue.'),
    offered_count: count('Those of them that are offered.'),
    offer_resources: flag('Whether models can list and read its resources.', false),
  },
  { title: 'ExtensionMcpServer' },
);

const Skill = Type.Object(
  {
    skill_id: id('skl', 'the skill'),
    name: text('The name.', { examples: ['pdf-forms'] }),
    description: text('When to use the skill.', { examples: ['Fills in PDF forms.'] }),
    version: count('The pinned version; of an available skill, the newest one.'),
    newest_version: count('The newest version.'),
    state: Type.Enum(['ready', 'disabled', 'deleted'], { description: 'Whether sessions get the skill.' }),
  },
  { title: 'ExtensionSkill' },
);

const members = {
  revision,
  mcp_server_ids: ids,
  skill_ids: Type.Array(id('skl', 'a skill, with @ and its pinned version')),
  mcp_servers: Type.Array(Server),
  skills: Type.Array(Skill),
  available: Type.Object(
    { mcp_servers: Type.Array(Server), skills: Type.Array(Skill) },
    { title: 'AvailableExtensions', description: 'The others that you can add.' },
  ),
};

export const AgentExtensionsShape = Type.Object(
  { agent_id: id('agt', 'the agent'), version: count('The newest version of the agent.'), ...members },
  { title: 'AgentExtensions' },
);

export const AssistantExtensionsShape = Type.Object(
  { assistant_id: id('ast', 'the assistant'), ...members },
  { title: 'AssistantExtensions' },
);

export function serializeExtensions(extensions: Extensions | undefined) {
  const servers = extensions?.mcpServers ?? [];
  const skills = extensions?.skills ?? [];
  return {
    revision: extensions?.revision,
    mcp_server_ids: servers.map(({ mcpServerId }) => mcpServerId),
    skill_ids: skills.map(({ skillId, version }) => `${skillId}@${version}`),
    mcp_servers: servers.map(serializeServer),
    skills: skills.map(serializeSkill),
    available: {
      mcp_servers: (extensions?.availableMcpServers ?? []).map(serializeServer),
      skills: (extensions?.availableSkills ?? []).map(serializeSkill),
    },
  };
}

function serializeServer(server: ExtensionMcpServer) {
  return {
    mcp_server_id: server.mcpServerId,
    name: server.name,
    description: server.description,
    state: server.state,
    tool_count: server.toolCount,
    offered_count: server.offeredCount,
    offer_resources: server.offerResources,
  };
}

function serializeSkill({ skillId, name, description, version, newestVersion, state }: ExtensionSkill) {
  return { skill_id: skillId, name, description, version, newest_version: newestVersion, state };
}
