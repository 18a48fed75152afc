import type { Clock } from '../../lib/clock.ts';
import { callerOf } from '../../lib/grpc/caller.ts';
import type { Handlers } from '../../lib/grpc/contract.ts';
import type { Ids } from '../../lib/ids.ts';
import {
  type AgentsServiceDefinition,
  CreateAgentRequest,
  CreateAgentResponse,
} from '../../proto/gen/ahs/agents/v1/agents.ts';
import { check, checkPage, checkSearch, tidy } from './domain/form.ts';
import {
  type Agent,
  agentNotFound,
  changed,
  checkVersion,
  found,
  newAgent,
  runnable,
  versionNotFound,
} from './domain.ts';
import { formOf, patchOf } from './requests.ts';
import type { AgentStore } from './store.ts';

export interface AgentsHandlersOptions {
  store: AgentStore;
  clock: Clock;
  ids: Ids;
  /** Names of the OpenAI-compatible endpoints whose models agents may have. */
  endpoints: readonly string[];
  /** Tells others that an agent is not what it was. */
  hint: (agentId: string) => void;
  /** Resolves when nobody trusts any more what an agent was before its hint. */
  settle: () => Promise<void>;
}

export function createHandlers(options: AgentsHandlersOptions): Handlers<AgentsServiceDefinition> {
  const { store, clock, ids, endpoints, hint, settle } = options;

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
      const { answer, replayed } = await store.create(agent, creation, call);
      return { ...CreateAgentResponse.decode(answer), replayed };
    },

    async listAgents({ page, q }, call) {
      const { userId } = callerOf(call);
      checkSearch(q);
      const { items, nextCursor } = await store.list(userId, q, checkPage(page), call);
      return { agents: items, page: { nextCursor } };
    },

    async getAgent({ agentId }, call) {
      return { agent: found(await store.agent(callerOf(call).userId, agentId, call)) };
    },

    async updateAgent(request, call) {
      const { userId } = callerOf(call);
      const patch = tidy(patchOf(request));
      check(patch, endpoints);
      const change = (agent: Agent) => {
        checkVersion(agent, request.ifVersion);
        return changed(agent, patch, clock.now());
      };
      const { before, after } = await store.change(userId, request.agentId, change, call);
      if (after !== before) hint(after.agentId);
      if (after.enabled !== before.enabled) await settle();
      return { agent: after };
    },

    async deleteAgent({ agentId }, call) {
      const { userId } = callerOf(call);
      if (!(await store.delete(userId, agentId, clock.now(), call))) throw agentNotFound();
      hint(agentId);
      await settle();
      return {};
    },

    async listAgentVersions({ agentId, page }, call) {
      const { userId } = callerOf(call);
      found(await store.state(userId, agentId, call));
      const { items, nextCursor } = await store.versions(userId, agentId, checkPage(page), call);
      return { versions: items, page: { nextCursor } };
    },

    async getAgentVersion({ agentId, version }, call) {
      const known = await store.version(call.caller?.userId, agentId, version, call);
      if (!known) throw versionNotFound(version);
      return { version: known };
    },

    async resolveAgent({ agentId }, call) {
      const state = found(await store.state(callerOf(call).userId, agentId, call));
      return { agentId, version: runnable(state) };
    },

    async lookUpAgents({ agentIds, nameContains }, call) {
      const { userId } = callerOf(call);
      checkSearch(nameContains);
      return { agents: await store.names(userId, agentIds, nameContains, call) };
    },
  };
}
