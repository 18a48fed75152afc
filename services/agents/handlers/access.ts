import { refuse } from '../../../lib/errors.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { type Access, type AccessVersion, checkAccess, tidyAccess } from '../domain/access.ts';
import { checkVersion } from '../domain/version.ts';
import type { HandlerContext } from './context.ts';
import { createNoteForeign } from './foreign.ts';
import { viewerOf } from './viewer.ts';

type Methods = Pick<Handlers<AgentsServiceDefinition>, 'getAgentAccess' | 'setAgentAccess' | 'getLevel'>;

const NOUN = 'access to the agent';

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
      const known = await agents.access(viewer, agentId, call);
      await note('agent.look', await agents.agent(viewer, agentId, call), viewer, call);
      return known;
    },

    async setAgentAccess({ agentId, access: given, ifVersion }, call) {
      const viewer = viewerOf(call);
      if (!given) throw refuse('INVALID_REQUEST', 'the access is missing');
      const wanted = tidyAccess(given);
      checkAccess(wanted);
      const before = await agents.access(viewer, agentId, call);
      checkVersion(NOUN, before, ifVersion);
      await checkUsers(wanted, before.access, call);
      await record({ action: 'agent.share', targetId: agentId, data: { ...wanted } }, call);
      const change = (held: AccessVersion) => {
        checkVersion(NOUN, held, ifVersion);
        return wanted;
      };
      const after = await agents.changeAccess(viewer, agentId, change, clock.now(), call);
      hint('agents.changed', agentId);
      await settle();
      return after;
    },

    async getLevel({ agentId }, call) {
      const store = isId('ast', agentId) ? assistants : agents;
      return { level: (await store.level(viewerOf(call), agentId, call)) ?? 'none' };
    },
  };
}
