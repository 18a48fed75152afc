import type { ActName } from '../../../lib/acts.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import {
  type AgentsServiceDefinition,
  CreateAgentRequest,
  CreateAgentResponse,
} from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { Viewer } from '../domain/access.ts';
import { check, checkPage, checkSearch, tidy } from '../domain/form.ts';
import { AGENT } from '../domain/kind.ts';
import { checkVersion } from '../domain/version.ts';
import { changed, found, newAgent, type Seen } from '../domain.ts';
import { formOf, patchOf } from '../requests.ts';
import type { HandlerContext } from './context.ts';
import { createNoteForeign, isForeign } from './foreign.ts';
import { viewerOf } from './viewer.ts';

type Methods = Pick<
  Handlers<AgentsServiceDefinition>,
  'createAgent' | 'listAgents' | 'getAgent' | 'updateAgent' | 'deleteAgent' | 'listAgentVersions'
>;

export function agentHandlers(context: HandlerContext): Methods {
  const { agents, record, clock, ids, endpoints, hint, settle } = context;
  const note = createNoteForeign(record);

  /** One that the administrator is about to change. */
  async function noteChange(action: ActName, agentId: string, viewer: Viewer, call: Call): Promise<void> {
    if (viewer.isAdministrator) await note(action, await agents.agent(viewer, agentId, call), viewer, call);
  }

  /** One that is about to be seen by others than before, by who may say so. */
  async function noteSharing(agentId: string, visibility: string, viewer: Viewer, call: Call): Promise<void> {
    const agent = await agents.agent(viewer, agentId, call);
    if (agent?.level === 'manage')
      await record({ action: 'agent.share', targetId: agentId, data: { visibility } }, call);
  }

  return {
    async createAgent(request, call) {
      const viewer = viewerOf(call);
      const form = tidy(formOf(request));
      check(form, endpoints);
      const agent = newAgent(form, ids('agt'), viewer.userId, clock.now());
      const creation = {
        key: request.idempotencyKey,
        request: CreateAgentRequest.encode({ ...request, idempotencyKey: '' }),
        answer: CreateAgentResponse.encode({
          agent: { ...agent, level: 'manage' },
          replayed: false,
        }).finish(),
      };
      const { agentId, visibility } = agent;
      if (visibility !== 'private')
        await record({ action: 'agent.share', targetId: agentId, data: { visibility } }, call);
      const { answer, replayed } = await agents.create(agent, creation, call);
      return { ...CreateAgentResponse.decode(answer), replayed };
    },

    async listAgents({ page, q }, call) {
      checkSearch(q);
      const viewer = viewerOf(call);
      const { items, nextCursor } = await agents.list(viewer, q, checkPage(page), call);
      const isLook = items.some((agent) => isForeign(agent, viewer));
      if (isLook) await record({ action: 'agents.list', targetId: '' }, call);
      return { agents: items, page: { nextCursor } };
    },

    async getAgent({ agentId }, call) {
      const viewer = viewerOf(call);
      const agent = found(await agents.agent(viewer, agentId, call), AGENT);
      await note('agent.look', agent, viewer, call);
      return { agent };
    },

    async updateAgent(request, call) {
      const viewer = viewerOf(call);
      const patch = tidy(patchOf(request));
      check(patch, endpoints);
      await noteChange('agent.update', request.agentId, viewer, call);
      const { visibility } = patch;
      if (visibility !== undefined) await noteSharing(request.agentId, visibility, viewer, call);
      const change = (agent: Seen) => {
        checkVersion('agent', agent, request.ifVersion);
        return changed(agent, patch, clock.now());
      };
      const { before, after } = await agents.change(viewer, request.agentId, change, call);
      if (after !== before) hint('agents.changed', after.agentId);
      // Also when it was so before: whoever was not answered the first time asks again.
      if (request.enabled !== undefined || visibility !== undefined) await settle();
      return { agent: after };
    },

    async deleteAgent({ agentId }, call) {
      const viewer = viewerOf(call);
      await noteChange('agent.delete', agentId, viewer, call);
      await agents.delete(viewer, agentId, clock.now(), call);
      hint('agents.changed', agentId);
      await settle();
      return {};
    },

    async listAgentVersions({ agentId, page }, call) {
      const viewer = viewerOf(call);
      await note('agent.look', found(await agents.agent(viewer, agentId, call), AGENT), viewer, call);
      const { items, nextCursor } = await agents.versions(viewer, agentId, checkPage(page), call);
      return { versions: items, page: { nextCursor } };
    },
  };
}
