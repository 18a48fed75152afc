import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import { checkRevision } from '../../../lib/revisions.ts';
import type {
  AgentsServiceDefinition,
  ExtensionMcpServer,
  ExtensionSkill as ExtensionSkillMessage,
  Extensions,
} from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { AgentViewer } from '../domain/access.ts';
import { type AgentWithLevel, applyPatch, requireFound } from '../domain/agent.ts';
import { checkServerIds, type ExtensionServer, extensionState } from '../domain/extensions.ts';
import type { PinnedSkill } from '../domain/runtime-fields.ts';
import type { ExtensionSkill } from '../domain/skill-extensions.ts';
import { parseSkillIds, pinSkills, skillState } from '../domain/skill-extensions.ts';
import { createForeignAccessRecorder } from './audit.ts';
import type { AgentsHandlerContext } from './context.ts';
import { viewerOf } from './viewer.ts';

type Methods = Pick<Handlers<AgentsServiceDefinition>, 'getExtensions' | 'putExtensions'>;

/** The RPCs for the MCP servers and skills of agents and assistants. */
export function extensionHandlers(context: AgentsHandlerContext): Methods {
  const { agents, assistants, mcpServers, skillExtensions, record, clock, publishHint } = context;
  const recordForeignAccess = createForeignAccessRecorder(record);
  const storeOf = (agentId: string) => (isId('ast', agentId) ? assistants : agents);

  async function extensionsOf(agent: AgentWithLevel, viewer: AgentViewer, call: Call): Promise<Extensions> {
    const { agentId, version, revision, level } = agent;
    const { ids } = agent.runtime.mcpServers;
    const by = { ...call, viewer: { userId: viewer.userId } };
    const servers = await mcpServers.extensions(ids, level === 'manage' ? viewer : undefined, by);
    const pins = agent.runtime.skills.items;
    const skills = await skillExtensions.skills(
      pins.map(({ id }) => id),
      level === 'manage',
      call,
    );
    const byId = new Map(skills.map((skill) => [skill.skillId, skill]));
    const isPinned = ({ skillId }: ExtensionSkill) => pins.some(({ id }) => id === skillId);
    const has = ({ mcpServerId }: ExtensionServer) => ids.includes(mcpServerId);
    return {
      agentId,
      version: isId('ast', agentId) ? 0 : version,
      revision,
      mcpServers: servers.filter(has).map(extensionMessage),
      availableMcpServers: servers.filter((server) => !has(server)).map(extensionMessage),
      skills: pins.map((pin) => pinnedSkillMessage(pin, byId.get(pin.id))),
      availableSkills: skills.filter((skill) => !isPinned(skill)).map(availableSkillMessage),
    };
  }

  return {
    async getExtensions({ agentId }, call) {
      const viewer = viewerOf(call);
      const { kind, agent: find } = storeOf(agentId);
      const agent = requireFound(await find(viewer, agentId, call), kind);
      await recordForeignAccess(`${kind.noun}.look`, agent, viewer, call);
      return { extensions: await extensionsOf(agent, viewer, call) };
    },

    async putExtensions({ agentId, mcpServerIds, ifRevisions, skills }, call) {
      const viewer = viewerOf(call);
      checkServerIds(mcpServerIds);
      const chosen = skills && parseSkillIds(skills.ids);
      const store = storeOf(agentId);
      const found = requireFound(await store.agent(viewer, agentId, call), store.kind);
      // Other texts are refused later, and the audit log limits the length of data.
      const data = {
        mcp_server_ids: mcpServerIds.filter((id) => isId('mcp', id)),
        ...(skills && { skill_ids: skills.ids }),
      };
      if (found.level === 'manage')
        await record({ action: 'extensions.update', targetId: agentId, data }, call);
      const ids = chosen?.map(({ skillId }) => skillId) ?? [];
      const newest = chosen ? await skillExtensions.skills(ids, false, call) : [];
      const versions = chosen ? await skillExtensions.versions(chosen, call) : [];
      const change = (agent: AgentWithLevel) => {
        checkRevision(store.kind.noun, agent.revision, ifRevisions);
        const before = agent.runtime.skills.items;
        const items = chosen && pinSkills(chosen, { before, newest, versions });
        const patch = { mcpServers: { ids: mcpServerIds }, ...(items && { skills: { items } }) };
        return applyPatch(agent, patch, clock.now());
      };
      const { before, after } = await store.change(viewer, agentId, change, call);
      if (after !== before) publishHint('agents.changed', agentId);
      return { extensions: await extensionsOf(after, viewer, call) };
    },
  };
}

function extensionMessage(server: ExtensionServer): ExtensionMcpServer {
  const { mcpServerId, name, description, toolCount, offeredCount, offerResources } = server;
  const offered = { toolCount, offeredCount, offerResources };
  return { mcpServerId, name, description, ...offered, state: extensionState(server) };
}

function pinnedSkillMessage(pin: PinnedSkill, skill: ExtensionSkill | undefined): ExtensionSkillMessage {
  const { id: skillId, name, version, description } = pin;
  return { skillId, name, version, description, newestVersion: skill?.newest ?? 0, state: skillState(skill) };
}

function availableSkillMessage(skill: ExtensionSkill): ExtensionSkillMessage {
  const { skillId, name, description, newest } = skill;
  return { skillId, name, description, version: newest, newestVersion: newest, state: skillState(skill) };
}
