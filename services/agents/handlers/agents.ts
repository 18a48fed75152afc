import { callerOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import {
  type AgentsServiceDefinition,
  CreateAgentRequest,
  CreateAgentResponse,
} from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { check, checkPage, checkSearch, tidy } from '../domain/form.ts';
import { AGENT } from '../domain/kind.ts';
import { type Agent, changed, checkVersion, found, newAgent } from '../domain.ts';
import { formOf, patchOf } from '../requests.ts';
import type { HandlerContext } from './context.ts';

type Methods = Pick<
  Handlers<AgentsServiceDefinition>,
  'createAgent' | 'listAgents' | 'getAgent' | 'updateAgent' | 'deleteAgent' | 'listAgentVersions'
>;

export function agentHandlers({ agents, clock, ids, endpoints, hint, settle }: HandlerContext): Methods {
  return {
    async createAgent(request, call) {
      const { userId } = callerOf(call);
      const form = tidy(formOf(request));
      check(form, endpoints);
      const agent = newAgent(form, ids('agt'), userId, clock.now());
      const creation = {
        key: request.idempotencyKey,
        request: CreateAgentRequest.encode({ ...request, idempotencyKey: '' }),
        answer: CreateAgentResponse.encode({ agent, replayed: false }).finish(),
      };
      const { answer, replayed } = await agents.create(agent, creation, call);
      return { ...CreateAgentResponse.decode(answer), replayed };
    },

    async listAgents({ page, q }, call) {
      const { userId } = callerOf(call);
      checkSearch(q);
      const { items, nextCursor } = await agents.list(userId, q, checkPage(page), call);
      return { agents: items, page: { nextCursor } };
    },

    async getAgent({ agentId }, call) {
      return { agent: found(await agents.agent(callerOf(call).userId, agentId, call), AGENT) };
    },

    async updateAgent(request, call) {
      const { userId } = callerOf(call);
      const patch = tidy(patchOf(request));
      check(patch, endpoints);
      const change = (agent: Agent) => {
        checkVersion(agent, request.ifVersion);
        return changed(agent, patch, clock.now());
      };
      const { before, after } = await agents.change(userId, request.agentId, change, call);
      if (after !== before) hint('agents.changed', after.agentId);
      // Also when it was so before: whoever was not answered the first time asks again.
      if (request.enabled !== undefined) await settle();
      return { agent: after };
    },

    async deleteAgent({ agentId }, call) {
      const { userId } = callerOf(call);
      if (!(await agents.delete(userId, agentId, clock.now(), call))) throw AGENT.notFound();
      hint('agents.changed', agentId);
      await settle();
      return {};
    },

    async listAgentVersions({ agentId, page }, call) {
      const { userId } = callerOf(call);
      found(await agents.standing(userId, agentId, call), AGENT);
      const { items, nextCursor } = await agents.versions(userId, agentId, checkPage(page), call);
      return { versions: items, page: { nextCursor } };
    },
  };
}
