import type { Clock } from '../../../lib/clock.ts';
import { refuse } from '../../../lib/errors.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Log } from '../../../lib/log.ts';
import { PROVIDERS } from '../../../lib/sandboxes.ts';
import type { AgentsServiceDefinition, Environment } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { SandboxProviders } from '../sandbox-providers/choose-provider.ts';
import type { ToolCallContext } from '../tool-calls/tool-call.ts';
import { createSandbox } from './create-sandbox.ts';
import { PooledSandbox } from './pooled-sandbox.ts';
import { SandboxReporter } from './sandbox-reporter.ts';
import { type SandboxTenant, tenantOf } from './sandbox-tenant.ts';

interface SandboxPoolOptions {
  sessions: Pick<Client<SessionsServiceDefinition>, 'takeSandbox' | 'reportSandboxes'>;
  agents: Pick<Client<AgentsServiceDefinition>, 'resolveEnvironment'>;
  providers: SandboxProviders;
  clock: Clock;
  ids: Ids;
  log: Log;
  runnerId: string;
  /** Limit for sandboxes at the same time, including suspended ones and those being created. */
  maxSandboxes: number;
}

type Caller = Pick<ToolCallContext, 'turn' | 'signal'>;

/** The sandbox of a tenant. */
interface PoolSlot {
  created: Promise<PooledSandbox>;
  /** Undefined until `created` has resolved. */
  sandbox?: PooledSandbox;
}

/** Sandboxes that are created for one call when each is ended before the call can use it. */
const MAX_ATTEMPTS = 3;

const END_REQUESTED = 'its end was requested';

/** A suspended sandbox is released after this time. */
const MAX_SUSPENDED_MS = 24 * 3_600_000;

/** The sandboxes of a runner. Each is created for the first command of its tenant. */
export class SandboxPool {
  readonly #options: SandboxPoolOptions;
  readonly #reporter: SandboxReporter;
  /** The slots by the key of their tenant. */
  readonly #slots = new Map<string, PoolSlot>();
  /** All sandboxes that exist, including those that are ending. */
  readonly #all = new Set<PooledSandbox>();
  /** Sandboxes that are being created. They count towards the limit. */
  #creating = 0;
  readonly #ends = new Set<Promise<void>>();
  /** Resolves when the sandboxes of an earlier process are removed. No sandbox is created before. */
  readonly #swept: Promise<void>;
  #isClosed = false;

  constructor(options: SandboxPoolOptions) {
    this.#options = options;
    this.#reporter = new SandboxReporter({
      ...options,
      // The sessions service would request the end of a sandbox that it does not know.
      list: () => [...this.#all].filter(({ isRegistered }) => isRegistered).map(({ report }) => report),
      end: (ids) => {
        for (const id of ids) this.#endById(id);
      },
    });
    this.#swept = this.#sweep();
  }

  /** Handles the hint that the end of a sandbox was requested. The answer to a report says whether the sandbox must end. */
  reportIfKnown(sandboxId: string): void {
    if (this.#find(sandboxId)) this.#reporter.changed();
  }

  /**
   * Returns the sandbox for a call: resumed, taken under the lease of its turn, and acquired. The caller must release
   * it. Rejects with SANDBOX_UNAVAILABLE, ENVIRONMENT_NOT_FOUND, ENVIRONMENT_DISABLED or LEASE_LOST.
   */
  async acquire(caller: Caller): Promise<PooledSandbox> {
    const environment = await this.#resolveEnvironment(caller);
    const tenant = tenantOf(caller.turn, environment.spec?.tenancy ?? '');
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const pooled = await this.#findOrCreate(tenant, environment);
      if (pooled.endSignal.aborted) continue;
      pooled.acquire();
      let isReady = false;
      try {
        const isAssigned = await this.#assign(pooled, caller);
        if (!isAssigned) this.end(pooled, 'released', END_REQUESTED);
        isReady = isAssigned && (await this.#resume(pooled));
        if (isReady) return pooled;
      } finally {
        if (!isReady) pooled.release();
      }
    }
    throw refuse('SANDBOX_UNAVAILABLE', 'Every new sandbox was ended before it could be used.');
  }

  /** Removes the sandbox from its slot, ends its commands and destroys it. Returns before that is complete. */
  end(pooled: PooledSandbox, status: 'lost' | 'released', reason: string): void {
    this.#vacateSlot(pooled);
    if (pooled.endSignal.aborted) return;
    const ending = pooled
      .end(reason)
      .catch((error: unknown) => this.#warn(error, 'a sandbox could not be removed'))
      .then(() => {
        this.#all.delete(pooled);
        this.#reporter.ended({ ...pooled.report, status, reason });
        this.#ends.delete(ending);
      });
    this.#ends.add(ending);
  }

  /** Ends all sandboxes and reports their end. */
  async close(): Promise<void> {
    await this.#endAll();
    await this.#reporter.stop();
  }

  /** Ends all sandboxes. Nothing is reported any more. */
  async closeWithoutReport(): Promise<void> {
    this.#reporter.stopWithoutReport();
    await this.#endAll();
  }

  async #endAll(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(Array.from(this.#slots.values(), ({ created }) => created));
    for (const pooled of this.#all) this.end(pooled, 'released', 'its runner has stopped');
    await Promise.all(this.#ends);
  }

  async #resolveEnvironment({ turn, signal }: Caller): Promise<Environment> {
    const { environmentId, trace } = turn;
    const { environment } = await this.#options.agents.resolveEnvironment(
      { environmentId },
      { signal, trace },
    );
    if (!environment) throw refuse('SANDBOX_UNAVAILABLE', 'The environment could not be resolved.');
    return environment;
  }

  /** A sandbox for another version of the environment is left to its current users, and replaced. */
  async #findOrCreate(tenant: SandboxTenant, environment: Environment): Promise<PooledSandbox> {
    if (this.#isClosed) throw refuse('SANDBOX_UNAVAILABLE', 'This runner is stopping.');
    const existing = this.#slots.get(tenant.key);
    if (existing) {
      const pooled = await existing.created;
      const { environmentId, version } = pooled.environment;
      if (environmentId === environment.environmentId && version === environment.version) return pooled;
      this.#retire(pooled, 'its environment has changed');
      return this.#findOrCreate(tenant, environment);
    }
    const slot: PoolSlot = { created: this.#create(tenant, environment) };
    this.#slots.set(tenant.key, slot);
    try {
      slot.sandbox = await slot.created;
      return slot.sandbox;
    } catch (error) {
      this.#slots.delete(tenant.key);
      throw error;
    }
  }

  async #create(tenant: SandboxTenant, environment: Environment): Promise<PooledSandbox> {
    await this.#swept;
    await this.#reserve();
    try {
      const sandbox = await createSandbox(this.#options, environment.spec);
      const pooled = new PooledSandbox(sandbox, tenant, environment, {
        clock: this.#options.clock,
        onStatusChange: () => this.#reporter.changed(),
        onIdle: (idle) => this.#onIdle(idle),
      });
      this.#all.add(pooled);
      return pooled;
    } finally {
      this.#creating--;
    }
  }

  /** Returns whether the sandbox may be used. Asks the sessions service once for each lease. */
  async #assign(pooled: PooledSandbox, { turn, signal }: Caller): Promise<boolean> {
    const { lease, trace } = turn;
    if (pooled.isTakenUnderLease(lease.sessionId, lease.fence)) return true;
    const { sandboxId, provider, limits } = pooled.sandbox;
    const { tenancy, tenantId } = pooled.tenant;
    const { environmentId, version: environmentVersion } = pooled.environment;
    const { runnerId, sessions } = this.#options;
    const { isolation } = PROVIDERS[provider];
    const facts = { sandboxId, provider, isolation, tenancy, tenantId, environmentId, environmentVersion };
    const request = { runnerId, lease, ...facts, limitsJson: JSON.stringify(limits) };
    const { granted } = await sessions.takeSandbox(request, { signal, trace });
    if (!granted) return false;
    const isKnown = pooled.isRegistered;
    pooled.recordLease(lease.sessionId, lease.fence);
    // The session of a known sandbox has got the last reported status of the sandbox.
    if (!isKnown) this.#reporter.changed();
    return true;
  }

  /** Returns false when the sandbox failed to resume and was ended. */
  async #resume(pooled: PooledSandbox): Promise<boolean> {
    try {
      await pooled.resume();
      return true;
    } catch (error) {
      this.#warn(error, 'a sandbox could not be resumed');
      this.end(pooled, 'lost', 'it could not be resumed');
      return false;
    }
  }

  #onIdle(pooled: PooledSandbox): void {
    if (pooled.isInUse || pooled.endSignal.aborted) return;
    if (pooled.environment.spec?.idle?.action === 'release') {
      this.end(pooled, 'released', 'it was idle');
      return;
    }
    pooled.suspend().then(
      // Its session, agent or assistant may not exist any more.
      () =>
        pooled.whenUnusedFor(MAX_SUSPENDED_MS, () =>
          this.end(pooled, 'released', 'it was suspended for 24 hours'),
        ),
      (error: unknown) => {
        this.#warn(error, 'a sandbox could not be suspended');
        this.end(pooled, 'lost', 'it could not be suspended');
      },
    );
  }

  /**
   * Reserves one of the runner's sandboxes, before its creation begins. At the limit, it ends the sandbox that has been
   * unused for the longest time. Rejects with SANDBOX_UNAVAILABLE when all are in use.
   */
  async #reserve(): Promise<void> {
    const { maxSandboxes } = this.#options;
    while (this.#all.size + this.#creating >= maxSandboxes) {
      const [oldest] = [...this.#all]
        .filter(({ isEvictable }) => isEvictable)
        .sort((one, other) => one.lastReleasedAt - other.lastReleasedAt);
      if (!oldest)
        throw refuse('SANDBOX_UNAVAILABLE', `All ${maxSandboxes} sandboxes of this runner are in use.`);
      this.end(oldest, 'released', 'its runner needed the capacity for another sandbox');
      await Promise.all(this.#ends);
    }
    this.#creating++;
  }

  #retire(pooled: PooledSandbox, reason: string): void {
    this.#vacateSlot(pooled);
    void pooled.whenUnused().then(() => this.end(pooled, 'released', reason));
  }

  #endById(sandboxId: string): void {
    const pooled = this.#find(sandboxId);
    if (pooled) this.end(pooled, 'released', END_REQUESTED);
  }

  #find(sandboxId: string): PooledSandbox | undefined {
    return [...this.#all].find(({ sandbox }) => sandbox.sandboxId === sandboxId);
  }

  #vacateSlot(pooled: PooledSandbox): void {
    const { key } = pooled.tenant;
    if (this.#slots.get(key)?.sandbox === pooled) this.#slots.delete(key);
  }

  async #sweep(): Promise<void> {
    for (const provider of this.#options.providers.available) {
      await provider
        .sweep()
        .catch((error: unknown) => this.#warn(error, 'sandboxes of an earlier process could not be removed'));
    }
  }

  #warn(error: unknown, message: string): void {
    this.#options.log.warn({ err: error }, message);
  }
}
