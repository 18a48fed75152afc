import { refuse } from '../../../lib/errors.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { type AgentAccess, checkAccess, normalizeAccess, type VersionedAccess } from '../domain/access.ts';
import { checkPreconditions } from '../domain/version.ts';
import { createForeignAccessRecorder } from './audit.ts';
import type { AgentsHandlerContext } from './context.ts';
import { viewerOf } from './viewer.ts';

type Methods = Pick<Handlers<AgentsServiceDefinition>, 'getAgentAccess' | 'setAgentAccess' | 'getLevel'>;

const NOUN = 'access to the agent';

/** The RPCs for the access list of an agent. */
export function accessHandlers(context: AgentsHandlerContext): Methods {
  const { agents, assistants, users, record, clock, publishHint, waitForCaches } = context;
  const recordForeignAccess = createForeignAccessRecorder(record);

  /** Refuses ids of unknown users with INVALID_REQUEST, because they are likely typing errors. */
  async function checkUsers(access: AgentAccess, before: AgentAccess, call: Call): Promise<void> {
    const known = new Set([...before.managers, ...before.users]);
    const details = await Promise.all(
      (['managers', 'users'] as const).flatMap((member) =>
        access[member].map(async (userId, index) => {
          const exists = known.has(userId) || (await users.exists(userId, call));
          return exists
            ? []
            : [{ pointer: `/${member}/${index}`, message: 'must be a user who has logged in before' }];
        }),
      ),
    );
    const [first, ...others] = details.flat();
    if (first)
      throw refuse('INVALID_REQUEST', `${first.pointer} ${first.message}`, { details: [first, ...others] });
  }

  return {
    async getAgentAccess({ agentId }, call) {
      const viewer = viewerOf(call);
      const access = await agents.access(viewer, agentId, call);
      await recordForeignAccess('agent.look', await agents.agent(viewer, agentId, call), viewer, call);
      return access;
    },

    async setAgentAccess({ agentId, access: given, ...preconditions }, call) {
      const viewer = viewerOf(call);
      if (!given) throw refuse('INVALID_REQUEST', 'The request must have `access`.');
      const access = normalizeAccess(given);
      checkAccess(access);
      const check = ({ version }: VersionedAccess) =>
        checkPreconditions(NOUN, { version, revision: version }, preconditions);
      const before = await agents.access(viewer, agentId, call);
      check(before);
      await checkUsers(access, before.access, call);
      await record({ action: 'agent.share', targetId: agentId, data: { ...access } }, call);
      const change = (locked: VersionedAccess) => {
        check(locked);
        return access;
      };
      const after = await agents.changeAccess(viewer, agentId, change, clock.now(), call);
      publishHint('agents.changed', agentId);
      await waitForCaches();
      return after;
    },

    async getLevel({ agentId }, call) {
      const store = isId('ast', agentId) ? assistants : agents;
      return { level: (await store.level(viewerOf(call), agentId, call)) ?? 'none' };
    },
  };
}
