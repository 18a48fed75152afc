import type { Clock } from '../../../lib/clock.ts';
import { Refusal, refuse } from '../../../lib/errors.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Log } from '../../../lib/log.ts';
import { PROVIDERS } from '../../../lib/sandboxes.ts';
import type { AgentsServiceDefinition, Environment } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { ToolCall } from '../tools/tool.ts';
import { KeptSandbox } from './kept.ts';
import { choose, type Providers } from './providers.ts';
import { Reports } from './reports.ts';
import { specOf } from './spec.ts';
import { type Tenant, tenantOf } from './tenant.ts';

export interface SandboxesOptions {
  sessions: Pick<Client<SessionsServiceDefinition>, 'takeSandbox' | 'reportSandboxes'>;
  agents: Pick<Client<AgentsServiceDefinition>, 'resolveEnvironment'>;
  providers: Providers;
  clock: Clock;
  ids: Ids;
  log: Log;
  runnerId: string;
  /** The most that there are at the same time, those that sleep included. */
  most: number;
}

/** Where the sandbox of a tenant is, or will be. */
interface Berth {
  making: Promise<KeptSandbox>;
  kept?: KeptSandbox;
}

/** How often a new one is made when somebody ends them as soon as they are there. */
const TRIES = 3;

const TOLD = 'it was told to end';

/** How long one that sleeps is kept. */
const ASLEEP_MS = 24 * 3_600_000;

/** The sandboxes of a runner: each is made when the first command of its tenant needs it. */
export class Sandboxes {
  readonly #options: SandboxesOptions;
  readonly #reports: Reports;
  /** The one of each tenant. */
  readonly #current = new Map<string, Berth>();
  /** All that are there, those that are about to end included. */
  readonly #all = new Set<KeptSandbox>();
  readonly #ends = new Set<Promise<void>>();
  /** What an earlier process has left behind goes before anything is made. */
  readonly #swept: Promise<void>;
  #isClosed = false;

  constructor(options: SandboxesOptions) {
    this.#options = options;
    this.#reports = new Reports({
      ...options,
      // Of one that was not taken yet sessions knows nothing, and would have it ended.
      list: () => [...this.#all].filter(({ isTaken }) => isTaken).map(({ report }) => report),
      end: (ids) => {
        for (const id of ids) this.#endById(id);
      },
    });
    this.#swept = this.#sweep();
  }

  /** Somebody wants one to end: what is to be done about it, sessions says. */
  look(sandboxId: string): void {
    if (this.#find(sandboxId)) this.#reports.changed();
  }

  /**
   * The sandbox of the call's turn, awake, taken under its lease, and entered: whoever asks has to leave it.
   * Refused with SANDBOX_UNAVAILABLE, ENVIRONMENT_NOT_FOUND, ENVIRONMENT_DISABLED, LEASE_LOST.
   */
  async enter(call: Pick<ToolCall, 'turn' | 'signal'>): Promise<KeptSandbox> {
    const environment = await this.#environment(call);
    const tenant = tenantOf(call.turn, environment.spec?.tenancy ?? '');
    for (let tries = 0; tries < TRIES; tries++) {
      const kept = await this.#keptFor(tenant, environment);
      if (kept.ending.aborted) continue;
      kept.enter();
      let isReady = false;
      try {
        const isTaken = await this.#take(kept, call);
        if (!isTaken) this.end(kept, 'released', TOLD);
        isReady = isTaken && (await this.#wake(kept));
        if (isReady) return kept;
      } finally {
        if (!isReady) kept.leave();
      }
    }
    throw refuse('SANDBOX_UNAVAILABLE', 'every new sandbox was ended at once');
  }

  /** It is no longer anybody's, ends what runs in it, and goes. */
  end(kept: KeptSandbox, status: 'lost' | 'released', reason: string): void {
    this.#forget(kept);
    if (kept.ending.aborted) return;
    const ending = kept
      .end(reason)
      .catch((error: unknown) => this.#complain(error, 'a sandbox cannot be removed'))
      .then(() => {
        this.#all.delete(kept);
        this.#reports.ended({ ...kept.report, status, reason });
        this.#ends.delete(ending);
      });
    this.#ends.add(ending);
  }

  /** Ends all of them and says so. */
  async close(): Promise<void> {
    await this.#endAll();
    await this.#reports.stop();
  }

  /** Ends all of them without another word. */
  async abandon(): Promise<void> {
    this.#reports.silence();
    await this.#endAll();
  }

  async #endAll(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(Array.from(this.#current.values(), ({ making }) => making));
    for (const kept of this.#all) this.end(kept, 'released', 'its runner has stopped');
    await Promise.all(this.#ends);
  }

  async #environment({ turn, signal }: Pick<ToolCall, 'turn' | 'signal'>): Promise<Environment> {
    const { environmentId, trace } = turn;
    const { environment } = await this.#options.agents.resolveEnvironment(
      { environmentId },
      { signal, trace },
    );
    if (!environment) throw refuse('SANDBOX_UNAVAILABLE', 'nothing is known of the environment');
    return environment;
  }

  /** One that was made for another version of the environment is left to those who are in it. */
  async #keptFor(tenant: Tenant, environment: Environment): Promise<KeptSandbox> {
    if (this.#isClosed) throw refuse('SANDBOX_UNAVAILABLE', 'this runner is stopping');
    const known = this.#current.get(tenant.key);
    if (known) {
      const kept = await known.making;
      const { environmentId, version } = kept.environment;
      if (environmentId === environment.environmentId && version === environment.version) return kept;
      this.#retire(kept, 'its environment has changed');
      return this.#keptFor(tenant, environment);
    }
    const berth: Berth = { making: this.#make(tenant, environment) };
    this.#current.set(tenant.key, berth);
    try {
      berth.kept = await berth.making;
      return berth.kept;
    } catch (error) {
      this.#current.delete(tenant.key);
      throw error;
    }
  }

  async #make(tenant: Tenant, environment: Environment): Promise<KeptSandbox> {
    await this.#swept;
    await this.#makeRoom();
    const { providers, ids } = this.#options;
    const provider = choose(providers, environment.spec);
    let sandbox: Sandbox;
    try {
      sandbox = await provider.create(specOf(ids('sbx'), environment.spec));
    } catch (error) {
      if (error instanceof Refusal) throw error;
      this.#complain(error, 'a sandbox cannot be made');
      throw refuse('SANDBOX_UNAVAILABLE', 'a sandbox could not be made', { cause: error });
    }
    const kept = new KeptSandbox(sandbox, tenant, environment, {
      clock: this.#options.clock,
      onChange: () => this.#reports.changed(),
      onIdle: (idle) => this.#idle(idle),
    });
    this.#all.add(kept);
    return kept;
  }

  /** Whether it may be used: under a new lease, sessions is asked. */
  async #take(kept: KeptSandbox, { turn, signal }: Pick<ToolCall, 'turn' | 'signal'>): Promise<boolean> {
    const { lease, trace } = turn;
    if (kept.isTakenUnder(lease.sessionId, lease.fence)) return true;
    const { sandboxId, provider, limits } = kept.sandbox;
    const { tenancy, tenantId } = kept.tenant;
    const { environmentId, version: environmentVersion } = kept.environment;
    const { runnerId, sessions } = this.#options;
    const { isolation } = PROVIDERS[provider];
    const what = { sandboxId, provider, isolation, tenancy, tenantId, environmentId, environmentVersion };
    const request = { runnerId, lease, ...what, limitsJson: JSON.stringify(limits) };
    const { granted } = await sessions.takeSandbox(request, { signal, trace });
    if (!granted) return false;
    kept.takenUnder(lease.sessionId, lease.fence);
    this.#reports.changed();
    return true;
  }

  async #wake(kept: KeptSandbox): Promise<boolean> {
    try {
      await kept.wake();
      return true;
    } catch (error) {
      this.#complain(error, 'a sandbox cannot be resumed');
      this.end(kept, 'lost', 'it could not be resumed');
      return false;
    }
  }

  #idle(kept: KeptSandbox): void {
    if (kept.isUsed || kept.ending.aborted) return;
    if (kept.environment.spec?.idle?.action === 'release') {
      this.end(kept, 'released', 'nobody has used it');
      return;
    }
    kept.suspend().then(
      // Whoever it was for may be gone: a session, an agent, an assistant.
      () => kept.unlessEntered(ASLEEP_MS, () => this.end(kept, 'released', 'nobody has woken it for a day')),
      (error: unknown) => {
        this.#complain(error, 'a sandbox cannot be suspended');
        this.end(kept, 'lost', 'it could not be suspended');
      },
    );
  }

  /** The one that was left first goes. */
  async #makeRoom(): Promise<void> {
    const { most } = this.#options;
    if (this.#all.size < most) return;
    const [oldest] = [...this.#all]
      .filter(({ isUsed }) => !isUsed)
      .sort((one, other) => one.leftAt - other.leftAt);
    if (!oldest) throw refuse('SANDBOX_UNAVAILABLE', `all ${most} sandboxes of this runner are in use`);
    this.end(oldest, 'released', 'its runner needed the room');
    await Promise.all(this.#ends);
  }

  #retire(kept: KeptSandbox, reason: string): void {
    this.#forget(kept);
    void kept.whenLeft().then(() => this.end(kept, 'released', reason));
  }

  #endById(sandboxId: string): void {
    const kept = this.#find(sandboxId);
    if (kept) this.end(kept, 'released', TOLD);
  }

  #find(sandboxId: string): KeptSandbox | undefined {
    return [...this.#all].find(({ sandbox }) => sandbox.sandboxId === sandboxId);
  }

  #forget(kept: KeptSandbox): void {
    const { key } = kept.tenant;
    if (this.#current.get(key)?.kept === kept) this.#current.delete(key);
  }

  async #sweep(): Promise<void> {
    for (const provider of this.#options.providers.has) {
      await provider
        .sweep([])
        .catch((error: unknown) => this.#complain(error, 'old sandboxes cannot be removed'));
    }
  }

  #complain(error: unknown, message: string): void {
    this.#options.log.warn({ err: error }, message);
  }
}
