import type { Handlers } from '../../../lib/grpc/contract.ts';
import { checkMetadataFilter } from '../../../lib/metadata-filter.ts';
import { checkRevision } from '../../../lib/revisions.ts';
import {
  type AgentsServiceDefinition,
  type Assistant,
  CreateAssistantRequest,
  CreateAssistantResponse,
} from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { type Agent, type AgentWithLevel, applyPatch, newAgent, requireFound } from '../domain/agent.ts';
import { checkAgentForm, checkPage, checkSearch, normalizeAgentForm } from '../domain/agent-form.ts';
import { ASSISTANT_KIND } from '../domain/agent-kind.ts';
import { createForeignAccessRecorder } from './audit.ts';
import type { AgentsHandlerContext } from './context.ts';
import { modelProvidersFor } from './model-providers.ts';
import { agentFormOf, agentPatchOf } from './requests.ts';
import { viewerOf } from './viewer.ts';

type Methods = Pick<
  Handlers<AgentsServiceDefinition>,
  'createAssistant' | 'listAssistants' | 'getAssistant' | 'updateAssistant' | 'deleteAssistant'
>;

/** The RPCs for assistants. An assistant is a private agent; its versions are not part of the contract. */
export function assistantHandlers(context: AgentsHandlerContext): Methods {
  const { assistants, record, clock, ids, publishHint, waitForCaches, startDeletions } = context;
  const recordForeignAccess = createForeignAccessRecorder(record);
  return {
    async createAssistant(request, call) {
      const { userId } = viewerOf(call);
      const form = normalizeAgentForm(agentFormOf(request));
      checkAgentForm(form, await modelProvidersFor(form, context, call));
      const agent = newAgent(form, ids('ast'), userId, clock.now());
      const creation = {
        key: request.idempotencyKey,
        request: CreateAssistantRequest.encode({ ...request, idempotencyKey: '' }),
        answer: CreateAssistantResponse.encode({
          assistant: assistantMessage(agent),
          replayed: false,
        }).finish(),
      };
      const { answer, replayed } = await assistants.create(agent, creation, call);
      return { ...CreateAssistantResponse.decode(answer), replayed };
    },

    async listAssistants({ page, metadata, ...request }, call) {
      checkSearch(request.q);
      const filter = { ...request, metadata: checkMetadataFilter(metadata) };
      const { items, nextCursor } = await assistants.list(viewerOf(call), filter, checkPage(page), call);
      return { assistants: items.map(assistantMessage), page: { nextCursor } };
    },

    async getAssistant({ assistantId }, call) {
      const viewer = viewerOf(call);
      const agent = requireFound(await assistants.agent(viewer, assistantId, call), ASSISTANT_KIND);
      await recordForeignAccess('assistant.look', agent, viewer, call);
      return { assistant: assistantMessage(agent) };
    },

    async updateAssistant(request, call) {
      const patch = normalizeAgentForm(agentPatchOf(request));
      checkAgentForm(patch, await modelProvidersFor(patch, context, call));
      const change = (agent: AgentWithLevel) => {
        checkRevision(ASSISTANT_KIND.noun, agent.revision, request.ifRevisions);
        return applyPatch(agent, patch, clock.now());
      };
      const { before, after } = await assistants.change(viewerOf(call), request.assistantId, change, call);
      if (after !== before) publishHint('agents.changed', after.agentId);
      // Wait even if nothing changed: the request may repeat one that changed the assistant and whose answer was lost.
      if (request.enabled !== undefined) await waitForCaches();
      return { assistant: assistantMessage(after) };
    },

    async deleteAssistant({ assistantId, ifRevisions }, call) {
      const check = ({ revision }: Agent) => checkRevision(ASSISTANT_KIND.noun, revision, ifRevisions);
      await assistants.delete(viewerOf(call), assistantId, check, clock.now(), call);
      publishHint('agents.changed', assistantId);
      startDeletions();
      await waitForCaches();
      return {};
    },
  };
}

function assistantMessage({ agentId, ...agent }: Agent): Assistant {
  const { name, description, runtime, metadata, enabled, revision, createdBy, createdAt, updatedAt } = agent;
  return {
    assistantId: agentId,
    ...{ name, description, runtime, metadata, enabled },
    ...{ revision, createdBy, createdAt, updatedAt },
  };
}
