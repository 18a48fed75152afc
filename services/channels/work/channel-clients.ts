import { secretsIn } from '../../../lib/grpc/sealed-for-peer.ts';
import type { WorkChannel } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { ChannelConfig } from '../../../proto/gen/ahs/deployments/v1/channels.ts';
import { DeploymentsServiceDefinition } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import type { Product, ProductClient } from '../products/product.ts';
import type { ProductRegistry } from '../products/registry.ts';
import type { WorkerContext } from './worker-context.ts';

/** A channel with the client of its product. */
export interface OpenChannel {
  deploymentId: string;
  agentId: string;
  agentName: string;
  provider: string;
  config: ChannelConfig;
  revision: number;
  /** The origin of the edge, without a slash at its end. */
  publicUrl: string;
  product: Product;
  client: ProductClient;
}

export interface ChannelReference {
  channel: OpenChannel;
  /** The last release of a channel closes its client. Can be repeated. */
  release(): void;
}

interface Entry {
  opening: Promise<OpenChannel>;
  references: number;
}

/** The clients of the channels for which this worker has work. All work of one revision of a channel shares a client. */
export class ChannelClients {
  readonly #registry: ProductRegistry;
  readonly #context: Pick<WorkerContext, 'sealer' | 'log'>;
  readonly #entries = new Map<string, Entry>();

  constructor(registry: ProductRegistry, context: Pick<WorkerContext, 'sealer' | 'log'>) {
    this.#registry = registry;
    this.#context = context;
  }

  /** `requestId` is that of the claim which has returned the channel. Rejects with ProductError or a refusal. */
  async acquire(work: WorkChannel, requestId: string): Promise<ChannelReference> {
    const key = `${work.deploymentId} ${work.revision} ${work.identity?.botId ?? ''}`;
    const entry = this.#entries.get(key) ?? { opening: this.#open(work, requestId), references: 0 };
    this.#entries.set(key, entry);
    entry.references++;
    let isReleased = false;
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      entry.references--;
      if (entry.references > 0) return;
      this.#entries.delete(key);
      void entry.opening.then((channel) => this.#close(channel)).catch(() => {});
    };
    try {
      return { channel: await entry.opening, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #open(work: WorkChannel, requestId: string): Promise<OpenChannel> {
    const { deploymentId, agentId, agentName, provider, config, revision, callbackUrl, identity } = work;
    if (!config) throw new Error('a claimed channel has no settings');
    const product = await this.#registry.load(provider);
    const call = {
      contract: DeploymentsServiceDefinition,
      method: 'claimWork',
      peer: 'deployments',
      requestId,
    } as const;
    const credentials = secretsIn(this.#context.sealer.open(work.credentials, call));
    const client = product.open({ deploymentId, config, credentials, callbackUrl, identity });
    const publicUrl = URL.canParse(callbackUrl) ? new URL(callbackUrl).origin : '';
    return { deploymentId, agentId, agentName, provider, config, revision, publicUrl, product, client };
  }

  async #close({ client, provider }: OpenChannel): Promise<void> {
    await client.close().catch((error: unknown) => {
      const { name } = error instanceof Error ? error : { name: typeof error };
      this.#context.log.warn({ provider, error: name }, 'the client of a channel was not closed cleanly');
    });
  }
}
