import type { Bus } from '../../../lib/bus/bus.ts';
import { createCache } from '../../../lib/cache.ts';
import type { Clock } from '../../../lib/clock.ts';
import { Refusal } from '../../../lib/errors.ts';
import type { Call, Caller, Client } from '../../../lib/grpc/contract.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { CACHE_MAX_AGE_MS } from '../admission.ts';

/** A user to whom an account is linked. */
export interface ChannelUser {
  caller: Caller;
  name: string;
  isEnabled: boolean;
}

type UserCall = Pick<Call, 'trace' | 'requestId'>;

/** Time limit of a load, which many calls share. */
const LOAD_MS = 5_000;

interface ChannelUsersContext {
  agents: Pick<Client<AgentsServiceDefinition>, 'getLevel'>;
  auth: Pick<Client<AuthServiceDefinition>, 'getUser'>;
  bus: Bus;
  clock: Clock;
}

export type ChannelUsers = ReturnType<typeof createChannelUsers>;

/** Reads users and their levels on agents. A value is at most one second old, and change hints clear it immediately. */
export function createChannelUsers({ agents, auth, bus, clock }: ChannelUsersContext) {
  const users = createCache<ChannelUser | undefined>(clock, CACHE_MAX_AGE_MS);
  const levels = createCache<string>(clock, CACHE_MAX_AGE_MS);
  const subscriptions = [
    bus.subscribe('users.changed', (userId) => {
      users.drop(userId);
      levels.clear();
    }),
    bus.subscribe('agents.changed', () => levels.clear()),
  ];

  const loadOptions = ({ trace, requestId }: UserCall) => ({
    trace,
    requestId,
    deadline: clock.now().getTime() + LOAD_MS,
  });

  async function load(userId: string, call: UserCall): Promise<ChannelUser | undefined> {
    try {
      const { user } = await auth.getUser({ userId }, loadOptions(call));
      if (!user) return undefined;
      const { roles, groups, displayName: name, enabled: isEnabled } = user;
      return { caller: { userId, roles, groups }, name, isEnabled };
    } catch (error) {
      if (error instanceof Refusal && error.code === 'USER_NOT_FOUND') return undefined;
      throw error;
    }
  }

  async function loadLevel(agentId: string, caller: Caller, call: UserCall): Promise<string> {
    const { level } = await agents.getLevel({ agentId }, { ...loadOptions(call), caller });
    return level;
  }

  return {
    /** Undefined for a deleted user. */
    find: (userId: string, call: UserCall): Promise<ChannelUser | undefined> =>
      users.get(userId, () => load(userId, call)),

    /** none, see, use or manage. */
    levelOf: (agentId: string, { caller }: ChannelUser, call: UserCall): Promise<string> =>
      levels.get(`${agentId} ${caller.userId}`, () => loadLevel(agentId, caller, call)),

    close(): void {
      for (const unsubscribe of subscriptions) unsubscribe();
    },
  };
}
