import type { Handlers } from '../../../lib/grpc/contract.ts';
import {
  type AgentsServiceDefinition,
  type Assistant,
  CreateAssistantRequest,
  CreateAssistantResponse,
} from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { check, checkPage, checkSearch, tidy } from '../domain/form.ts';
import { ASSISTANT } from '../domain/kind.ts';
import { type Agent, changed, found, newAgent, type Seen } from '../domain.ts';
import { formOf, patchOf } from '../requests.ts';
import type { HandlerContext } from './context.ts';
import { createNoteForeign } from './foreign.ts';
import { viewerOf } from './viewer.ts';

type Methods = Pick<
  Handlers<AgentsServiceDefinition>,
  'createAssistant' | 'listAssistants' | 'getAssistant' | 'updateAssistant' | 'deleteAssistant'
>;

/** An assistant is an agent of its owner's alone; that its runtime has versions is nobody's affair. */
export function assistantHandlers(context: HandlerContext): Methods {
  const { assistants, record, clock, ids, endpoints, hint, settle, forget } = context;
  const note = createNoteForeign(record);
  return {
    async createAssistant(request, call) {
      const { userId } = viewerOf(call);
      const form = tidy(formOf(request));
      check(form, endpoints);
      const agent = newAgent(form, ids('ast'), userId, clock.now());
      const creation = {
        key: request.idempotencyKey,
        request: CreateAssistantRequest.encode({ ...request, idempotencyKey: '' }),
        answer: CreateAssistantResponse.encode({ assistant: shown(agent), replayed: false }).finish(),
      };
      const { answer, replayed } = await assistants.create(agent, creation, call);
      return { ...CreateAssistantResponse.decode(answer), replayed };
    },

    async listAssistants({ page, q }, call) {
      checkSearch(q);
      const { items, nextCursor } = await assistants.list(viewerOf(call), q, checkPage(page), call);
      return { assistants: items.map(shown), page: { nextCursor } };
    },

    async getAssistant({ assistantId }, call) {
      const viewer = viewerOf(call);
      const agent = found(await assistants.agent(viewer, assistantId, call), ASSISTANT);
      await note('assistant.look', agent, viewer, call);
      return { assistant: shown(agent) };
    },

    async updateAssistant(request, call) {
      const patch = tidy(patchOf(request));
      check(patch, endpoints);
      const change = (agent: Seen) => changed(agent, patch, clock.now());
      const { before, after } = await assistants.change(viewerOf(call), request.assistantId, change, call);
      if (after !== before) hint('agents.changed', after.agentId);
      // Also when it was so before: whoever was not answered the first time asks again.
      if (request.enabled !== undefined) await settle();
      return { assistant: shown(after) };
    },

    async deleteAssistant({ assistantId }, call) {
      await assistants.delete(viewerOf(call), assistantId, clock.now(), call);
      hint('agents.changed', assistantId);
      forget();
      await settle();
      return {};
    },
  };
}

function shown({ agentId, ...agent }: Agent): Assistant {
  const { name, description, runtime, metadata, enabled, createdBy, createdAt, updatedAt } = agent;
  return {
    assistantId: agentId,
    ...{ name, description, runtime, metadata, enabled },
    ...{ createdBy, createdAt, updatedAt },
  };
}
