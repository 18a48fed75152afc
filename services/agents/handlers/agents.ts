import type { AuditAction } from '../../../lib/audit-actions.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { checkMetadataFilter } from '../../../lib/metadata-filter.ts';
import { checkRevision } from '../../../lib/revisions.ts';
import {
  type AgentsServiceDefinition,
  CreateAgentRequest,
  CreateAgentResponse,
} from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { AgentViewer } from '../domain/access.ts';
import { type Agent, type AgentWithLevel, applyPatch, newAgent, requireFound } from '../domain/agent.ts';
import { checkAgentForm, checkPage, checkSearch, normalizeAgentForm } from '../domain/agent-form.ts';
import { AGENT_KIND } from '../domain/agent-kind.ts';
import { checkPreconditions } from '../domain/version.ts';
import { createForeignAccessRecorder, isOwnedByAnother } from './audit.ts';
import type { AgentsHandlerContext } from './context.ts';
import { agentFormOf, agentPatchOf } from './requests.ts';
import { viewerOf } from './viewer.ts';

type Methods = Pick<
  Handlers<AgentsServiceDefinition>,
  'createAgent' | 'listAgents' | 'getAgent' | 'updateAgent' | 'deleteAgent' | 'listAgentVersions'
>;

export function agentHandlers(context: AgentsHandlerContext): Methods {
  const { agents, record, clock, ids, endpoints, publishHint, waitForCaches, startDeletions } = context;
  const recordForeignAccess = createForeignAccessRecorder(record);

  /** Records a change that an administrator is about to make to another user's agent. */
  async function recordChange(
    action: AuditAction,
    agentId: string,
    viewer: AgentViewer,
    call: Call,
  ): Promise<void> {
    if (viewer.isAdministrator)
      await recordForeignAccess(action, await agents.agent(viewer, agentId, call), viewer, call);
  }

  /** Records a change of the visibility, if the viewer can make it. */
  async function recordSharing(
    agentId: string,
    visibility: string,
    viewer: AgentViewer,
    call: Call,
  ): Promise<void> {
    const agent = await agents.agent(viewer, agentId, call);
    if (agent?.level === 'manage')
      await record({ action: 'agent.share', targetId: agentId, data: { visibility } }, call);
  }

  return {
    async createAgent(request, call) {
      const viewer = viewerOf(call);
      const form = normalizeAgentForm(agentFormOf(request));
      checkAgentForm(form, { endpoints });
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

    async listAgents({ page, metadata, ...request }, call) {
      checkSearch(request.q);
      const filter = { ...request, metadata: checkMetadataFilter(metadata) };
      const viewer = viewerOf(call);
      const { items, nextCursor } = await agents.list(viewer, filter, checkPage(page), call);
      if (items.some((agent) => isOwnedByAnother(agent, viewer)))
        await record({ action: 'agents.list', targetId: '' }, call);
      return { agents: items, page: { nextCursor } };
    },

    async getAgent({ agentId }, call) {
      const viewer = viewerOf(call);
      const agent = requireFound(await agents.agent(viewer, agentId, call), AGENT_KIND);
      await recordForeignAccess('agent.look', agent, viewer, call);
      return { agent };
    },

    async updateAgent(request, call) {
      const viewer = viewerOf(call);
      const patch = normalizeAgentForm(agentPatchOf(request));
      checkAgentForm(patch, { endpoints });
      await recordChange('agent.update', request.agentId, viewer, call);
      const { visibility } = patch;
      if (visibility !== undefined) await recordSharing(request.agentId, visibility, viewer, call);
      const change = (agent: AgentWithLevel) => {
        checkPreconditions(AGENT_KIND.noun, agent, request);
        return applyPatch(agent, patch, clock.now());
      };
      const { before, after } = await agents.change(viewer, request.agentId, change, call);
      if (after !== before) publishHint('agents.changed', after.agentId);
      // Wait even if nothing changed: the request may repeat one that changed the agent and whose answer was lost.
      if (request.enabled !== undefined || visibility !== undefined) await waitForCaches();
      return { agent: after };
    },

    async deleteAgent({ agentId, ifRevisions }, call) {
      const viewer = viewerOf(call);
      await recordChange('agent.delete', agentId, viewer, call);
      const check = ({ revision }: Agent) => checkRevision(AGENT_KIND.noun, revision, ifRevisions);
      await agents.delete(viewer, agentId, check, clock.now(), call);
      publishHint('agents.changed', agentId);
      startDeletions();
      await waitForCaches();
      return {};
    },

    async listAgentVersions({ agentId, page }, call) {
      const viewer = viewerOf(call);
      const agent = requireFound(await agents.agent(viewer, agentId, call), AGENT_KIND);
      await recordForeignAccess('agent.look', agent, viewer, call);
      const { items, nextCursor } = await agents.versions(viewer, agentId, checkPage(page), call);
      return { versions: items, page: { nextCursor } };
    },
  };
}
