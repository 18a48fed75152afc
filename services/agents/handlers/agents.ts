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
import {
  type AgentPatch,
  checkAgentForm,
  checkPage,
  checkSearch,
  normalizeAgentForm,
} from '../domain/agent-form.ts';
import { AGENT_KIND } from '../domain/agent-kind.ts';
import { checkPreconditions } from '../domain/version.ts';
import { createForeignAccessRecorder, isOwnedByAnother } from './audit.ts';
import type { AgentsHandlerContext } from './context.ts';
import { modelProvidersFor } from './model-providers.ts';
import { agentFormOf, agentPatchOf } from './requests.ts';
import { viewerOf } from './viewer.ts';

type Methods = Pick<
  Handlers<AgentsServiceDefinition>,
  | 'createAgent'
  | 'listAgents'
  | 'getAgent'
  | 'getPublicCard'
  | 'updateAgent'
  | 'deleteAgent'
  | 'listAgentVersions'
>;

/** The members of a change that decide who can find an agent or read its card. */
interface Audience {
  visibility: string | undefined;
  a2a: string | undefined;
}

export function agentHandlers(context: AgentsHandlerContext): Methods {
  const { agents, record, clock, ids, publishHint, waitForCaches, startDeletions } = context;
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

  /** Records a change of the visibility, or of that of the agent card, if the viewer can make it. */
  async function recordSharing(
    agentId: string,
    { visibility, exposure }: AgentPatch,
    viewer: AgentViewer,
    call: Call,
  ): Promise<void> {
    const a2a = exposure?.a2a;
    if (visibility === undefined && a2a === undefined) return;
    const agent = await agents.agent(viewer, agentId, call);
    if (agent?.level === 'manage') await recordShared(agentId, { visibility, a2a }, call);
  }

  async function recordShared(agentId: string, { visibility, a2a }: Audience, call: Call): Promise<void> {
    const data = {
      ...(visibility !== undefined && { visibility }),
      ...(a2a !== undefined && { exposure: { a2a } }),
    };
    await record({ action: 'agent.share', targetId: agentId, data }, call);
  }

  return {
    async createAgent(request, call) {
      const viewer = viewerOf(call);
      const form = normalizeAgentForm(agentFormOf(request));
      checkAgentForm(form, await modelProvidersFor(form, context, call));
      const agent = newAgent(form, ids('agt'), viewer.userId, clock.now());
      const creation = {
        key: request.idempotencyKey,
        request: CreateAgentRequest.encode({ ...request, idempotencyKey: '' }),
        answer: CreateAgentResponse.encode({
          agent: { ...agent, level: 'manage' },
          replayed: false,
        }).finish(),
      };
      const { agentId } = agent;
      const visibility = agent.visibility === 'private' ? undefined : agent.visibility;
      const a2a = agent.exposure.a2a === 'public' ? 'public' : undefined;
      if (visibility ?? a2a) await recordShared(agentId, { visibility, a2a }, call);
      const { answer, replayed } = await agents.create(agent, creation, call);
      // Followers of the list of agents get the new one.
      if (!replayed) publishHint('agents.changed', agentId);
      return { ...CreateAgentResponse.decode(answer), replayed };
    },

    async listAgents({ page, metadata, ...request }, call) {
      checkSearch(request.q, request.exposedTo);
      const filter = { ...request, metadata: checkMetadataFilter(metadata) };
      const isAdministrator = request.exposedTo === undefined && viewerOf(call).isAdministrator;
      const viewer = { ...viewerOf(call), isAdministrator };
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

    async getPublicCard({ agentId }, call) {
      return requireFound(await agents.publicCard(agentId, call), AGENT_KIND);
    },

    async updateAgent(request, call) {
      const viewer = viewerOf(call);
      const patch = normalizeAgentForm(agentPatchOf(request));
      checkAgentForm(patch, await modelProvidersFor(patch, context, call));
      await recordChange('agent.update', request.agentId, viewer, call);
      await recordSharing(request.agentId, patch, viewer, call);
      const change = (agent: AgentWithLevel) => {
        checkPreconditions(AGENT_KIND.noun, agent, request);
        return applyPatch(agent, patch, clock.now());
      };
      const { before, after } = await agents.change(viewer, request.agentId, change, call);
      if (after !== before) publishHint('agents.changed', after.agentId);
      // Wait even if nothing changed: the request may repeat one that changed the agent and whose answer was lost.
      if (request.enabled !== undefined || patch.visibility !== undefined) await waitForCaches();
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
