import type { Handlers } from '../../../lib/grpc/contract.ts';
import {
  type AgentsServiceDefinition,
  CreateAgentRequest,
  CreateAgentResponse,
} from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { check, checkPage, checkSearch, tidy } from '../domain/form.ts';
import { AGENT } from '../domain/kind.ts';
import { changed, checkVersion, found, newAgent, type Seen } from '../domain.ts';
import { formOf, patchOf } from '../requests.ts';
import type { HandlerContext } from './context.ts';
import { viewerOf } from './viewer.ts';

type Methods = Pick<
  Handlers<AgentsServiceDefinition>,
  'createAgent' | 'listAgents' | 'getAgent' | 'updateAgent' | 'deleteAgent' | 'listAgentVersions'
>;

export function agentHandlers({ agents, clock, ids, endpoints, hint, settle }: HandlerContext): Methods {
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
      const { answer, replayed } = await agents.create(agent, creation, call);
      return { ...CreateAgentResponse.decode(answer), replayed };
    },

    async listAgents({ page, q }, call) {
      checkSearch(q);
      const { items, nextCursor } = await agents.list(viewerOf(call), q, checkPage(page), call);
      return { agents: items, page: { nextCursor } };
    },

    async getAgent({ agentId }, call) {
      return { agent: found(await agents.agent(viewerOf(call), agentId, call), AGENT) };
    },

    async updateAgent(request, call) {
      const patch = tidy(patchOf(request));
      check(patch, endpoints);
      const change = (agent: Seen) => {
        checkVersion(agent, request.ifVersion);
        return changed(agent, patch, clock.now());
      };
      const { before, after } = await agents.change(viewerOf(call), request.agentId, change, call);
      if (after !== before) hint('agents.changed', after.agentId);
      // Also when it was so before: whoever was not answered the first time asks again.
      if (request.enabled !== undefined) await settle();
      return { agent: after };
    },

    async deleteAgent({ agentId }, call) {
      await agents.delete(viewerOf(call), agentId, clock.now(), call);
      hint('agents.changed', agentId);
      await settle();
      return {};
    },

    async listAgentVersions({ agentId, page }, call) {
      const viewer = viewerOf(call);
      found(await agents.level(viewer, agentId, call), AGENT);
      const { items, nextCursor } = await agents.versions(viewer, agentId, checkPage(page), call);
      return { versions: items, page: { nextCursor } };
    },
  };
}
