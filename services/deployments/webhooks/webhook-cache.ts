import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Bus } from '../../../lib/bus/bus.ts';
import { createCache } from '../../../lib/cache.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import type { Sealer } from '../../../lib/sealing.ts';
import { CACHE_MAX_AGE_MS } from '../admission.ts';
import type { DeploymentStore } from '../store/deployments.ts';

/** The properties of a webhook that decide on its requests. */
export interface Webhook {
  deploymentId: string;
  ownerId: string;
  agentId: string;
  promptPrefix: string | undefined;
  /** HMAC key, the UTF-8 bytes of the shared secret; undefined while the webhook is disabled. */
  key: KeyObject | undefined;
}

/** Bounds the memory: a webhook may have a prompt prefix of 64 KiB. */
const MAX_WEBHOOKS = 2_000;

interface WebhookCacheContext {
  store: Pick<DeploymentStore, 'sealedWebhook'>;
  sealer: Sealer;
  bus: Bus;
  clock: Clock;
}

export type WebhookCache = ReturnType<typeof createWebhookCache>;

/** Reads webhooks through a cache that change hints clear immediately. */
export function createWebhookCache({ store, sealer, bus, clock }: WebhookCacheContext) {
  const webhooks = createCache<Webhook | undefined>(clock, CACHE_MAX_AGE_MS, MAX_WEBHOOKS);
  const unsubscribe = bus.subscribe('deployments.changed', (deploymentId) => webhooks.drop(deploymentId));

  async function load(deploymentId: string, { trace }: Call): Promise<Webhook | undefined> {
    const row = await store.sealedWebhook(deploymentId, { trace });
    if (!row) return undefined;
    const key =
      row.status === 'enabled'
        ? createSecretKey(Buffer.from(sealer.open(row.sealedSecret, deploymentId), 'utf8'))
        : undefined;
    const { createdBy: ownerId, agentId, promptPrefix } = row;
    return { deploymentId, ownerId, agentId, promptPrefix: promptPrefix ?? undefined, key };
  }

  return {
    /** Undefined for an unknown deployment and for one of another type. */
    find: (deploymentId: string, call: Call): Promise<Webhook | undefined> =>
      webhooks.get(deploymentId, () => load(deploymentId, call)),
    close: unsubscribe,
  };
}
