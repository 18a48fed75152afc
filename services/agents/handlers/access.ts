import { refuse } from '../../../lib/errors.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { type Access, checkAccess, tidyAccess } from '../domain/access.ts';
import type { HandlerContext } from './context.ts';
import { createNoteForeign } from './foreign.ts';
import { viewerOf } from './viewer.ts';

type Methods = Pick<Handlers<AgentsServiceDefinition>, 'getAgentAccess' | 'setAgentAccess' | 'getLevel'>;

/** Who may do what with an agent. */
export function accessHandlers(context: HandlerContext): Methods {
  const { agents, assistants, users, record, clock, hint, settle } = context;
  const note = createNoteForeign(record);

  /** Whom nobody knows could not be told from a slip of the pen. */
  async function checkUsers(access: Access, before: Access, call: Call): Promise<void> {
    const known = new Set([...before.managers, ...before.users]);
    const details = await Promise.all(
      (['managers', 'users'] as const).flatMap((member) =>
        access[member].map(async (userId, index) => {
          const isThere = known.has(userId) || (await users.isThere(userId, call));
          return isThere
            ? []
            : [{ pointer: `/${member}/${index}`, message: 'is nobody who has ever logged in' }];
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
      await note('agent.look', await agents.agent(viewer, agentId, call), viewer, call);
      return { access };
    },

    async setAgentAccess({ agentId, access: given }, call) {
      const viewer = viewerOf(call);
      if (!given) throw refuse('INVALID_REQUEST', 'the access is missing');
      const wanted = tidyAccess(given);
      checkAccess(wanted);
      await checkUsers(wanted, await agents.access(viewer, agentId, call), call);
      await record({ action: 'agent.share', targetId: agentId, data: { ...wanted } }, call);
      const access = await agents.setAccess(viewer, agentId, wanted, clock.now(), call);
      hint('agents.changed', agentId);
      await settle();
      return { access };
    },

    async getLevel({ agentId }, call) {
      const store = isId('ast', agentId) ? assistants : agents;
      return { level: (await store.level(viewerOf(call), agentId, call)) ?? 'none' };
    },
  };
}
