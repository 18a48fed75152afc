import { backoffDelay, createBackoff, type Random } from '../../../lib/backoff.ts';
import { wait } from '../../../lib/clock.ts';
import type {
  ChannelIdentity,
  ConnectionWork,
  LeaseReference,
} from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { DeploymentsServiceDefinition } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import type { EventReceiver } from '../products/product.ts';
import { ProductError } from '../products/product-error.ts';
import type { ChannelReference } from '../work/channel-clients.ts';
import { isLeaseLost } from '../work/lease-lost.ts';
import type { WorkerContext } from '../work/worker-context.ts';

const REQUEST_TIMEOUT_MS = 60_000;

const RETRY = { firstMs: 1_000, maxMs: 5 * 60_000 };
/** A connection that has worked for this long starts again with the first delay. */
const STABLE_MS = 60_000;

/** Registers a channel at its product, and receives its events, while this worker holds the lease. */
export class ConnectionRun {
  readonly lease: LeaseReference;
  /** Milliseconds since the epoch. */
  leaseUntil: number;
  readonly #work: ConnectionWork;
  readonly #reference: ChannelReference;
  readonly #context: WorkerContext & { random: Random };
  readonly #lost = new AbortController();
  readonly #stopping = new AbortController();
  readonly #ended: AbortSignal;
  #resumeState: string | undefined;
  #identity: ChannelIdentity | undefined;
  #isRegistered = false;

  constructor(
    work: ConnectionWork,
    reference: ChannelReference,
    leaseUntil: number,
    context: WorkerContext & { random: Random },
    /** The request id of the claim. */
    requestId: string,
  ) {
    const { deploymentId, fence, resumeState } = work;
    this.#work = work;
    this.#reference = reference;
    this.#context = context;
    this.leaseUntil = leaseUntil;
    this.lease = { kind: 'connection', deploymentId, conversation: '', fence };
    this.#ended = AbortSignal.any([this.#lost.signal, this.#stopping.signal]);
    if (resumeState) {
      const call = { ...DEPLOYMENTS, method: 'claimWork', requestId } as const;
      this.#resumeState = context.sealer.openBytes(resumeState, call).toString();
    }
  }

  lose(): void {
    this.#lost.abort();
  }

  /** Closes the connection and releases the lease. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Resolves when the lease has ended. Never rejects. */
  async run(): Promise<void> {
    const { log, deployments } = this.#context;
    const { deploymentId } = this.#work;
    try {
      const isReported = await this.#keepConnected();
      if (!isReported && !this.#lost.signal.aborted)
        await deployments.releaseLease({ lease: this.lease, toldSeq: 0 });
    } catch (error) {
      if (!this.#lost.signal.aborted && !isLeaseLost(error))
        log.warn({ err: error, deploymentId }, 'a connection was given up; another claim continues it');
    } finally {
      this.#reference.release();
    }
  }

  /** Resolves with whether a report has ended the lease. A lost connection is opened again after a delay. */
  async #keepConnected(): Promise<boolean> {
    const { clock, random } = this.#context;
    let failures = 0;
    while (!this.#ended.aborted) {
      const startedAt = clock.now().getTime();
      let retryAfterMs = 0;
      try {
        const isEnded = await (this.#work.remove ? this.#remove() : this.#connect());
        if (isEnded || this.#ended.aborted) return isEnded;
        await this.#reportLoss('The product has closed the connection.');
      } catch (error) {
        if (this.#ended.aborted) return false;
        if (!(error instanceof ProductError)) throw error;
        if (error.kind === 'unauthorized' || error.kind === 'refused') {
          // A bot that the product does not accept any more has no webhooks that could be removed.
          await this.#report(this.#work.remove ? 'removed' : 'failed', error.message);
          return true;
        }
        retryAfterMs = error.retryAfterMs ?? 0;
        await this.#reportLoss(error.message);
      }
      failures = clock.now().getTime() - startedAt > STABLE_MS ? 1 : failures + 1;
      await wait(clock, Math.max(retryAfterMs, backoffDelay(failures, RETRY, random)), this.#ended);
    }
    return false;
  }

  /** Resolves when the connection has ended. */
  async #connect(): Promise<boolean> {
    const { client } = this.#reference.channel;
    if (!this.#isRegistered) {
      this.#identity = await this.#request((signal) => client.me(signal));
      // A registered webhook delivers events at once. Without the bot's identity, its mentions would not be recognized.
      if (!client.isReceiving) await this.#report('connecting', '');
      await this.#request((signal) => client.register(signal));
      this.#isRegistered = true;
    }
    if (!client.isReceiving) {
      await this.#report('connected', '');
      return true;
    }
    const closed = new AbortController();
    try {
      const receiver = this.#receiver(closed.signal);
      await this.#request((signal) => client.connect(receiver, signal), MAX_TIMER_MS);
    } finally {
      closed.abort();
    }
    return false;
  }

  async #remove(): Promise<boolean> {
    await this.#request((signal) => this.#reference.channel.client.unregister(signal));
    await this.#report('removed', '');
    return true;
  }

  /** `closed` aborts when the connection has ended. */
  #receiver(closed: AbortSignal): EventReceiver {
    const { deployments, sealer, ids } = this.#context;
    const { deploymentId, fence } = this.#work;
    const run = this;
    return {
      get resumeState() {
        return run.#resumeState;
      },
      connected: () => void this.#reportConnected(closed),
      accept: async (eventsJson, resumeState) => {
        const requestId = ids('req');
        const call = { ...DEPLOYMENTS, method: 'acceptEvents', requestId } as const;
        const sealed =
          resumeState === undefined ? undefined : sealer.sealBytes(Buffer.from(resumeState), call);
        const request = {
          ...{ deploymentId, fence, eventsJson: [...eventsJson], resumeState: sealed },
          // The report of the connection can be stored after its first events.
          identity: run.#identity,
        };
        try {
          await deployments.acceptEvents(request, { requestId, signal: this.#lost.signal });
        } catch (error) {
          if (isLeaseLost(error)) this.lose();
          throw error;
        }
        if (resumeState !== undefined) this.#resumeState = resumeState;
      },
    };
  }

  /** Repeats the report until it is stored, because it is the only one of a connection that lasts. Never rejects. */
  async #reportConnected(closed: AbortSignal): Promise<void> {
    const { clock, random } = this.#context;
    const backoff = createBackoff(clock, undefined, random);
    while (!closed.aborted) {
      try {
        return await this.#report('connected', '', closed);
      } catch (error) {
        if (isLeaseLost(error)) return this.lose();
        await backoff.pause(closed);
      }
    }
  }

  /** The connection is opened again also when the report is lost. */
  async #reportLoss(problem: string): Promise<void> {
    try {
      await this.#report('connecting', problem);
    } catch (error) {
      if (this.#lost.signal.aborted || isLeaseLost(error)) throw error;
      const { deploymentId } = this.#work;
      this.#context.log.info({ err: error, deploymentId }, 'the loss of a connection could not be reported');
    }
  }

  async #report(state: string, error: string, signal: AbortSignal = this.#lost.signal): Promise<void> {
    const { deploymentId, fence } = this.#work;
    const request = { deploymentId, fence, state, error, identity: this.#identity, resumeState: undefined };
    await this.#context.deployments.reportConnection(request, { signal });
  }

  /** An error that is not one of the product's, such as one of its library, counts as a lost connection. */
  async #request<Result>(
    send: (signal: AbortSignal) => Promise<Result>,
    timeoutMs = REQUEST_TIMEOUT_MS,
  ): Promise<Result> {
    const limit = new AbortController();
    const cancel = this.#context.clock.after(timeoutMs, () => limit.abort());
    try {
      return await send(AbortSignal.any([this.#ended, limit.signal]));
    } catch (error) {
      if (error instanceof ProductError) throw error;
      this.#context.log.info(
        {
          provider: this.#reference.channel.provider,
          error: error instanceof Error ? error.name : typeof error,
        },
        'a connection failed with an unexpected error; it is opened again',
      );
      const message = limit.signal.aborted
        ? 'The product did not answer in time.'
        : 'The connection was lost.';
      throw new ProductError('unavailable', message);
    } finally {
      cancel();
    }
  }
}

const DEPLOYMENTS = { contract: DeploymentsServiceDefinition, peer: 'deployments' } as const;
/** The longest time of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;
