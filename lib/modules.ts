import type { Clock } from './clock.ts';

/** A part of the process that is started, health-checked and stopped. */
export interface Module {
  name: string;
  /** Rejects with the reason when the module cannot work now, and with DegradedError when a part of it works. */
  check?(): Promise<void>;
  /** The other modules work while this check fails: the process is degraded and stays ready. */
  isOptional?: boolean;
  /**
   * A client of another process. Its check is not part of the status that this process reports to other processes,
   * because services that call each other would wait for each other.
   */
  isRemote?: boolean;
  /** Refuses new work and ends long-lived streams. */
  drain?(): Promise<void> | void;
  stop(): Promise<void>;
}

/**
 * A named fact for operators: the implementation that fills a role, for example an external server or its embedded
 * replacement. The start banner and `/readyz?verbose` show it. Contains no secret.
 */
export interface Backend {
  role: string;
  description: string;
}

/** Rejection of a check: a part of the module works, so the process stays ready. The message names the other part. */
export class DegradedError extends Error {
  override readonly name = 'DegradedError';
}

export interface Readiness {
  name: string;
  status: 'ok' | 'degraded' | 'failing';
  /** The reason when the status is not `ok`. */
  problem: string | undefined;
  latencyMs: number;
}

/** Returns the status of a process with these checks. A degraded process is ready. */
export function statusOf(checks: readonly Readiness[]): 'ready' | 'degraded' | 'unready' {
  if (checks.some(({ status }) => status === 'failing')) return 'unready';
  return checks.every(({ status }) => status === 'ok') ? 'ready' : 'degraded';
}

/** The time limit of each module for `drain`, and again for `stop`. */
const STOP_TIMEOUT_MS = 2_000;
const CHECK_TIMEOUT_MS = 1_500;

/** Starts the modules of a process in dependency order and stops them in reverse order, each with a time limit. */
export class ModuleManager {
  readonly #modules: Module[] = [];
  readonly #clock: Clock;
  readonly #warn: (message: string, error?: unknown) => void;
  #stopping: Promise<void> | undefined;

  constructor(clock: Clock, warn: (message: string, error?: unknown) => void) {
    this.#clock = clock;
    this.#warn = warn;
  }

  /**
   * Waits for a module to open and adds it. When opening fails, the caller must call `stop` for the modules before it.
   * A module that opens while the process is stopping is stopped at once.
   */
  async start<M extends Module>(opening: Promise<M>): Promise<M> {
    const module = await opening;
    if (this.stopping) {
      await this.#try(module, 'stop', async () => module.stop());
      throw new Error(`${module.name} was not started because the process is stopping`);
    }
    this.add(module);
    return module;
  }

  /** Adds a module that is already running. */
  add(module: Module): void {
    this.#modules.push(module);
  }

  get stopping(): boolean {
    return this.#stopping !== undefined;
  }

  async readiness(): Promise<Readiness[]> {
    return this.#readinessOf(() => true);
  }

  /** Rejects when a required module of this process fails its check. Modules of other processes are not checked. */
  async checkOwn(): Promise<void> {
    const checks = await this.#readinessOf(({ isRemote }) => !isRemote);
    const failing = checks.find(({ status }) => status === 'failing');
    if (failing) throw new Error(`${failing.name}: ${failing.problem}`);
  }

  async #readinessOf(isIncluded: (module: Module) => boolean): Promise<Readiness[]> {
    if (this.stopping) return [{ name: 'process', status: 'failing', problem: 'stopping', latencyMs: 0 }];
    const checked = this.#modules.filter((module) => module.check && isIncluded(module));
    return Promise.all(checked.map((module) => this.#check(module)));
  }

  async #check(module: Module): Promise<Readiness> {
    const startedAt = performance.now();
    const outcome = await this.#withTimeout(CHECK_TIMEOUT_MS, async () => module.check?.()).then(
      () => ({ status: 'ok' as const, problem: undefined }),
      (error: unknown) => ({
        status: isDegraded(module, error) ? ('degraded' as const) : ('failing' as const),
        problem: error instanceof Error ? error.message : String(error),
      }),
    );
    return { name: module.name, ...outcome, latencyMs: performance.now() - startedAt };
  }

  /** Stops all modules. `readiness` reports "stopping" from now on. Repeated calls wait for the first. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const reversed = this.#modules.toReversed();
    for (const module of reversed) await this.#try(module, 'drain', async () => module.drain?.());
    for (const module of reversed) await this.#try(module, 'stop', async () => module.stop());
  }

  async #try(module: Module, step: string, work: () => Promise<void>): Promise<void> {
    await this.#withTimeout(STOP_TIMEOUT_MS, work).catch((error: unknown) =>
      this.#warn(`${module.name} did not ${step} cleanly`, error),
    );
  }

  #withTimeout(ms: number, work: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(ms, () => reject(new Error(`no answer within ${ms} ms`)));
      work().then(resolve, reject).finally(cancel);
    });
  }
}

function isDegraded(module: Module, error: unknown): boolean {
  return module.isOptional === true || error instanceof DegradedError;
}
