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

/** What a call of a webhook is measured by. */
export interface Webhook {
  deploymentId: string;
  ownerId: string;
  agentId: string;
  promptPrefix: string | undefined;
  /** HMAC key, the UTF-8 bytes of the shared secret; undefined while the webhook is disabled. */
  key: KeyObject | undefined;
}

/** The version a session would start with now, or why none can. */
export type Standing = { agentVersion: number } | { obstacle: Obstacle };

/** On whose behalf a session would begin, or why none can. */
type Owner = { caller: Caller } | { obstacle: Obstacle };

/** What is known for longer than this is asked for again. */
export const MAX_AGE_MS = 1_000;
/** A webhook may hold a prompt prefix of 64 KiB. */
const MAX_WEBHOOKS = 2_000;
/**
 * One load serves many calls, so none of them may end it; it has a limit of its own. It stands in the trace of the
 * call that found nothing.
 */
const LOAD_MS = 5_000;

export interface AdmissionContext {
  store: Pick<DeploymentStore, 'sealedWebhook'>;
  sealer: Sealer;
  agents: Client<AgentsServiceDefinition>;
  auth: Client<AuthServiceDefinition>;
  bus: Bus;
  clock: Clock;
}

export type Admission = ReturnType<typeof createAdmission>;

/** Who may begin sessions through webhooks, read through caches that hints of changes empty at once. */
export function createAdmission({ store, sealer, agents, auth, bus, clock }: AdmissionContext) {
  const webhooks = createCache<Webhook | undefined>(clock, MAX_AGE_MS, MAX_WEBHOOKS);
  const owners = createCache<Owner>(clock, MAX_AGE_MS);
  const versions = createCache<Standing>(clock, MAX_AGE_MS);
  const subscriptions = [
    bus.subscribe('deployments.changed', (deploymentId) => webhooks.drop(deploymentId)),
    bus.subscribe('users.changed', (userId) => owners.drop(userId)),
    // Of which owners something is known, and whose environment it is, nobody remembers.
    bus.subscribe('agents.changed', () => versions.clear()),
    bus.subscribe('environments.changed', () => versions.clear()),
  ];

  async function loadWebhook(deploymentId: string, call: Call): Promise<Webhook | undefined> {
    const row = await store.sealedWebhook(deploymentId, call);
    if (!row) return undefined;
    const key =
      row.status === 'enabled'
        ? createSecretKey(Buffer.from(sealer.open(row.sealedSecret, deploymentId), 'utf8'))
        : undefined;
    const { createdBy: ownerId, agentId, promptPrefix } = row;
    return { deploymentId, ownerId, agentId, promptPrefix: promptPrefix ?? undefined, key };
  }

  const loading = ({ trace, requestId }: Call) => ({
    trace,
    requestId,
    deadline: clock.now().getTime() + LOAD_MS,
  });

  async function loadOwner(userId: string, call: Call): Promise<Owner> {
    try {
      const { user } = await auth.getUser({ userId }, loading(call));
      if (!user?.enabled) return { obstacle: 'owner_disabled' };
      const { roles, groups } = user;
      return { caller: { userId, roles, groups } };
    } catch (error) {
      return { obstacle: obstacleIn(error) };
    }
  }

  /** As of the owner: whoever may not use the agent any more starts nothing with it this way either. */
  async function loadVersion(agentId: string, caller: Caller, call: Call): Promise<Standing> {
    try {
      const { version } = await agents.resolveAgent({ agentId }, { ...loading(call), caller });
      return { agentVersion: version };
    } catch (error) {
      return { obstacle: obstacleIn(error) };
    }
  }

  return {
    /** Undefined when there is none. */
    webhook: (deploymentId: string, call: Call): Promise<Webhook | undefined> =>
      webhooks.get(deploymentId, () => loadWebhook(deploymentId, call)),

    async standing({ ownerId, agentId }: Webhook, call: Call): Promise<Standing> {
      const owner = await owners.get(ownerId, () => loadOwner(ownerId, call));
      if ('obstacle' in owner) return owner;
      return versions.get(`${agentId} ${ownerId}`, () => loadVersion(agentId, owner.caller, call));
    },

    close(): void {
      for (const unsubscribe of subscriptions) unsubscribe();
    },
  };
}

/** A refusal that says why no session can begin is an answer; any other failure is none. */
function obstacleIn(error: unknown): Obstacle {
  const obstacle = error instanceof Refusal ? obstacleOf(error) : undefined;
  if (!obstacle) throw error;
  return obstacle;
}
