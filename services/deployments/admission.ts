import type { Bus } from '../../lib/bus/bus.ts';
import { createCache } from '../../lib/cache.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Call, Caller, Client } from '../../lib/grpc/contract.ts';
import type { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import { type Obstacle, obstacleIn } from './obstacles.ts';

/** The agent and the owner of a deployment. */
interface Startable {
  ownerId: string;
  agentId: string;
}

/** The agent version of a session that starts now and its owner, or the reason why none can start. */
export type StartDecision = { agentVersion: number; caller: Caller } | { obstacle: Obstacle };

/** The user on whose behalf a session starts, or the reason why none can start. */
type OwnerDecision = { caller: Caller } | { obstacle: Obstacle };

/** The part of a call that a load uses. */
type LoadCall = Pick<Call, 'trace' | 'requestId'>;

/** Cached values are loaded again when they are older than this. */
export const CACHE_MAX_AGE_MS = 1_000;
/**
 * Time limit of a load. Many requests share one load, so it ignores their deadlines and signals. It appears in the trace
 * of the request that started it.
 */
const LOAD_MS = 5_000;

interface AdmissionContext {
  agents: Client<AgentsServiceDefinition>;
  auth: Client<AuthServiceDefinition>;
  bus: Bus;
  clock: Clock;
}

export type Admission = ReturnType<typeof createAdmission>;

/** Decides which deployments can start sessions. Reads through caches that change hints clear immediately. */
export function createAdmission({ agents, auth, bus, clock }: AdmissionContext) {
  const owners = createCache<OwnerDecision>(clock, CACHE_MAX_AGE_MS);
  const versions = createCache<StartDecision>(clock, CACHE_MAX_AGE_MS);
  const subscriptions = [
    bus.subscribe('users.changed', (userId) => owners.drop(userId)),
    // The cache does not record which owners use an agent, nor which environment an agent runs in.
    bus.subscribe('agents.changed', () => versions.clear()),
    bus.subscribe('environments.changed', () => versions.clear()),
  ];

  const loadOptions = ({ trace, requestId }: LoadCall) => ({
    trace,
    requestId,
    deadline: clock.now().getTime() + LOAD_MS,
  });

  async function loadOwner(userId: string, call: LoadCall): Promise<OwnerDecision> {
    try {
      const { user } = await auth.getUser({ userId }, loadOptions(call));
      if (!user?.enabled) return { obstacle: 'owner_disabled' };
      const { roles, groups } = user;
      return { caller: { userId, roles, groups } };
    } catch (error) {
      return { obstacle: obstacleIn(error) };
    }
  }

  /** Resolves the agent as the owner: an owner who lost access to the agent cannot start it with a deployment either. */
  async function loadVersion(agentId: string, caller: Caller, call: LoadCall): Promise<StartDecision> {
    try {
      const { version } = await agents.resolveAgent({ agentId }, { ...loadOptions(call), caller });
      return { agentVersion: version, caller };
    } catch (error) {
      return { obstacle: obstacleIn(error) };
    }
  }

  const owner = (ownerId: string, call: LoadCall): Promise<OwnerDecision> =>
    owners.get(ownerId, () => loadOwner(ownerId, call));

  return {
    owner,

    async decideStart({ ownerId, agentId }: Startable, call: LoadCall): Promise<StartDecision> {
      const found = await owner(ownerId, call);
      if ('obstacle' in found) return found;
      return versions.get(`${agentId} ${ownerId}`, () => loadVersion(agentId, found.caller, call));
    },

    close(): void {
      for (const unsubscribe of subscriptions) unsubscribe();
    },
  };
}
