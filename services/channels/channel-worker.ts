import type { Random } from '../../lib/backoff.ts';
import type { ClaimWorkResponse, WorkChannel } from '../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { ConnectionRun } from './connections/connection-run.ts';
import { type ConversationContext, ConversationRun } from './conversations/conversation-run.ts';
import { runDelivery } from './deliveries/delivery-runner.ts';
import { failedCheck, runProbe } from './probes/run-probe.ts';
import { ProductError } from './products/product-error.ts';
import type { ProductRegistry } from './products/registry.ts';
import { ChannelClients, type ChannelReference } from './work/channel-clients.ts';
import { LeaseRenewer } from './work/lease-renewer.ts';
import { LeasedWork } from './work/leased-work.ts';
import { RateLimits } from './work/rate-limits.ts';
import { type Capacity, WorkClaimer } from './work/work-claimer.ts';
import type { WorkerContext } from './work/worker-context.ts';

/** Another worker continues the work of a killed one after this time. */
const LEASE_SECONDS = 30;
const MAX_CONNECTIONS = 10_000;
const MAX_DELIVERIES = 64;
/** Deliveries and probes end before their leases, which are not renewed. */
const UNRENEWED_MS = LEASE_SECONDS * 1_000 - 2_000;

export interface ChannelWorkerOptions extends WorkerContext {
  random: Random;
  registry: ProductRegistry;
  slots: number;
  onRateLimit(provider: string): void;
}

/** Claims the work of channels and does it: connections, deliveries, conversations and probes. */
export class ChannelWorker {
  readonly #options: ChannelWorkerOptions;
  readonly #context: ConversationContext;
  readonly #clients: ChannelClients;
  readonly #connections: LeasedWork<ConnectionRun>;
  readonly #conversations: LeasedWork<ConversationRun>;
  readonly #unrenewed = new Set<Promise<void>>();
  readonly #abandoned = new AbortController();
  readonly #renewer: LeaseRenewer;
  readonly #claimer: WorkClaimer;
  /** Claimed work whose channels are being opened. */
  readonly #opening = new Set<Promise<void>>();

  constructor(options: ChannelWorkerOptions) {
    const { registry, clock, log, deployments, workerId, ids } = options;
    this.#options = options;
    this.#context = { ...options, limits: new RateLimits(clock) };
    this.#clients = new ChannelClients(registry, options);
    const onEnd = () => this.#claimer.capacityFreed();
    this.#connections = new LeasedWork(onEnd);
    this.#conversations = new LeasedWork(onEnd);
    const shared = { deployments, clock, log, workerId, leaseSeconds: LEASE_SECONDS };
    const runs = () => [...this.#connections, ...this.#conversations];
    this.#renewer = new LeaseRenewer({ ...shared, runs });
    this.#claimer = new WorkClaimer({
      ...{ ...shared, ids },
      capacity: () => this.#capacity(),
      accept: (work, leaseUntil, requestId) => this.#accept(work, leaseUntil, requestId),
    });
  }

  /** The error of the last claim; undefined when it succeeded. */
  get problem(): unknown {
    return this.#claimer.problem;
  }

  get conversations(): number {
    return this.#conversations.size;
  }

  /** Leases of a changed channel end with the next renewal. */
  channelChanged(deploymentId: string): void {
    const held = [...this.#connections, ...this.#conversations];
    if (held.some(({ lease }) => lease.deploymentId === deploymentId)) this.#renewer.renewNow();
  }

  /** Ends all work after the requests in progress, and releases the leases. */
  async drain(): Promise<void> {
    await this.#claimer.stop();
    await Promise.all(this.#opening);
    for (const run of [...this.#connections, ...this.#conversations]) run.stop();
    await Promise.all([
      this.#connections.whenEmpty(),
      this.#conversations.whenEmpty(),
      Promise.all(this.#unrenewed),
    ]);
  }

  /** Ends all work at once. The leases end by themselves. */
  async stop(): Promise<void> {
    this.#abandoned.abort();
    this.#renewer.stop();
    await this.#claimer.stop();
    for (const run of [...this.#connections, ...this.#conversations]) run.lose();
  }

  #capacity(): Capacity {
    const { slots } = this.#options;
    if (slots === 0) return { connections: 0, conversations: 0, deliveries: 0 };
    return {
      connections: MAX_CONNECTIONS - this.#connections.size,
      conversations: Math.max(0, slots - this.#conversations.size - this.#opening.size),
      deliveries: Math.max(0, MAX_DELIVERIES - this.#unrenewed.size),
    };
  }

  #accept(work: ClaimWorkResponse, leaseUntil: number, requestId: string): void {
    const channels = new Map(work.channels.map((channel) => [channel.deploymentId, channel]));
    const open = (deploymentId: string) => this.#open(channels.get(deploymentId), requestId);
    for (const conversation of work.conversations) {
      const known = this.#conversations.find(conversation);
      if (known?.lease.fence === conversation.fence) known.update(conversation);
      else
        this.#begin(open(conversation.deploymentId), (reference) =>
          this.#conversations.start(new ConversationRun(conversation, reference, leaseUntil, this.#context)),
        );
    }
    for (const connection of work.connections) {
      const start = (reference: ChannelReference) =>
        this.#connections.start(
          new ConnectionRun(connection, reference, leaseUntil, this.#options, requestId),
        );
      this.#begin(open(connection.deploymentId), start, async (error) => {
        if (!(error instanceof ProductError)) return;
        const { deploymentId, fence, remove } = connection;
        const state = remove ? 'removed' : 'failed';
        await this.#options.deployments.reportConnection({
          deploymentId,
          fence,
          state,
          error: error.message,
          identity: undefined,
          resumeState: undefined,
        });
      });
    }
    for (const delivery of work.deliveries) {
      this.#begin(open(delivery.deploymentId), (reference) =>
        this.#runUnrenewed((signal) => runDelivery(delivery, reference, signal, this.#options)),
      );
    }
    for (const probe of work.probes) {
      const start = (reference: ChannelReference) =>
        this.#runUnrenewed((signal) => runProbe(probe, reference, signal, this.#options));
      this.#begin(open(probe.deploymentId), start, async (error) => {
        const { probeId } = probe;
        await this.#options.deployments.reportProbe({ probeId, checks: failedCheck(error) });
      });
    }
  }

  #open(channel: WorkChannel | undefined, requestId: string): Promise<ChannelReference> {
    if (!channel) return Promise.reject(new Error('a claim has returned work without its channel'));
    return this.#clients.acquire(channel, requestId);
  }

  /** Work whose channel cannot be opened is claimed again when its lease has ended. */
  #begin(
    opening: Promise<ChannelReference>,
    start: (reference: ChannelReference) => void,
    report: (error: unknown) => Promise<void> = async () => {},
  ): void {
    const begun = opening
      .then(start, async (error: unknown) => {
        const fields = error instanceof ProductError ? { err: error } : { error: nameOf(error) };
        this.#options.log.warn(fields, 'a channel could not be opened');
        await report(error);
      })
      .catch((error: unknown) => {
        this.#options.log.warn({ error: nameOf(error) }, 'the failure of a channel could not be reported');
      })
      .finally(() => this.#opening.delete(begun));
    this.#opening.add(begun);
  }

  #runUnrenewed(run: (signal: AbortSignal) => Promise<void>): void {
    const limit = new AbortController();
    const cancel = this.#options.clock.after(UNRENEWED_MS, () => limit.abort());
    const running = run(AbortSignal.any([this.#abandoned.signal, limit.signal])).finally(() => {
      cancel();
      this.#unrenewed.delete(running);
      this.#claimer.capacityFreed();
    });
    this.#unrenewed.add(running);
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
