import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Bus } from '../../lib/bus/bus.ts';
import { createCache } from '../../lib/cache.ts';
import type { Clock } from '../../lib/clock.ts';
import { Refusal } from '../../lib/errors.ts';
import type { Call, Caller, Client } from '../../lib/grpc/contract.ts';
import type { Sealer } from '../../lib/sealing.ts';
import type { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import { type Obstacle, obstacleOf } from './reasons.ts';
import type { DeploymentStore } from './store/deployments.ts';

/** The properties of a webhook that decide on its requests. */
export interface Webhook {
  deploymentId: string;
  ownerId: string;
  agentId: string;
  promptPrefix: string | undefined;
  /** HMAC key, the UTF-8 bytes of the shared secret; undefined while the webhook is disabled. */
  key: KeyObject | undefined;
}

/** The agent version of a session that starts now, or the reason why none can start. */
type StartDecision = { agentVersion: number } | { obstacle: Obstacle };

/** The user on whose behalf a session starts, or the reason why none can start. */
type OwnerDecision = { caller: Caller } | { obstacle: Obstacle };

/** Cached values are loaded again when they are older than this. */
export const CACHE_MAX_AGE_MS = 1_000;
/** Bounds the memory: a webhook may have a prompt prefix of 64 KiB. */
const MAX_WEBHOOKS = 2_000;
/**
 * Time limit of a load. Many requests share one load, so it ignores their deadlines and signals. It appears in the trace
 * of the request that started it.
 */
const LOAD_MS = 5_000;

interface AdmissionContext {
  store: Pick<DeploymentStore, 'sealedWebhook'>;
  sealer: Sealer;
  agents: Client<AgentsServiceDefinition>;
  auth: Client<AuthServiceDefinition>;
  bus: Bus;
  clock: Clock;
}

export type Admission = ReturnType<typeof createAdmission>;

/** Decides which webhooks can start sessions. Reads through caches that change hints clear immediately. */
export function createAdmission({ store, sealer, agents, auth, bus, clock }: AdmissionContext) {
  const webhooks = createCache<Webhook | undefined>(clock, CACHE_MAX_AGE_MS, MAX_WEBHOOKS);
  const owners = createCache<OwnerDecision>(clock, CACHE_MAX_AGE_MS);
  const versions = createCache<StartDecision>(clock, CACHE_MAX_AGE_MS);
  const subscriptions = [
    bus.subscribe('deployments.changed', (deploymentId) => webhooks.drop(deploymentId)),
    bus.subscribe('users.changed', (userId) => owners.drop(userId)),
    // The cache does not record which owners use an agent, nor which environment an agent runs in.
    bus.subscribe('agents.changed', () => versions.clear()),
    bus.subscribe('environments.changed', () => versions.clear()),
  ];

  async function loadWebhook(deploymentId: string, { trace }: Call): Promise<Webhook | undefined> {
    const row = await store.sealedWebhook(deploymentId, { trace });
    if (!row) return undefined;
    const key =
      row.status === 'enabled'
        ? createSecretKey(Buffer.from(sealer.open(row.sealedSecret, deploymentId), 'utf8'))
        : undefined;
    const { createdBy: ownerId, agentId, promptPrefix } = row;
    return { deploymentId, ownerId, agentId, promptPrefix: promptPrefix ?? undefined, key };
  }

  const loadOptions = ({ trace, requestId }: Call) => ({
    trace,
    requestId,
    deadline: clock.now().getTime() + LOAD_MS,
  });

  async function loadOwner(userId: string, call: Call): Promise<OwnerDecision> {
    try {
      const { user } = await auth.getUser({ userId }, loadOptions(call));
      if (!user?.enabled) return { obstacle: 'owner_disabled' };
      const { roles, groups } = user;
      return { caller: { userId, roles, groups } };
    } catch (error) {
      return { obstacle: obstacleIn(error) };
    }
  }

  /** Resolves the agent as the owner: an owner who lost access to the agent cannot start it with a webhook either. */
  async function loadVersion(agentId: string, caller: Caller, call: Call): Promise<StartDecision> {
    try {
      const { version } = await agents.resolveAgent({ agentId }, { ...loadOptions(call), caller });
      return { agentVersion: version };
    } catch (error) {
      return { obstacle: obstacleIn(error) };
    }
  }

  return {
    /** Undefined for an unknown deployment. */
    webhook: (deploymentId: string, call: Call): Promise<Webhook | undefined> =>
      webhooks.get(deploymentId, () => loadWebhook(deploymentId, call)),

    async decideStart({ ownerId, agentId }: Webhook, call: Call): Promise<StartDecision> {
      const owner = await owners.get(ownerId, () => loadOwner(ownerId, call));
      if ('obstacle' in owner) return owner;
      return versions.get(`${agentId} ${ownerId}`, () => loadVersion(agentId, owner.caller, call));
    },

    close(): void {
      for (const unsubscribe of subscriptions) unsubscribe();
    },
  };
}

/** Returns the obstacle that a refusal stands for. Throws every other error. */
function obstacleIn(error: unknown): Obstacle {
  const obstacle = error instanceof Refusal ? obstacleOf(error) : undefined;
  if (!obstacle) throw error;
  return obstacle;
}
