import type { Clock } from './clock.ts';

/** A part of the process that is started, watched and stopped. */
export interface Module {
  name: string;
  /** Whether it can do its work now; fails with the reason when it cannot. */
  check?(): Promise<void>;
  /** Turns away new work and ends what would otherwise last for ever. */
  drain?(): Promise<void> | void;
  stop(): Promise<void>;
}

/** What fills a role at the moment: the real thing, or the embedded part that stands in for it. */
export interface StandIn {
  role: string;
  inForce: string;
}

export interface Readiness {
  name: string;
  ok: boolean;
  /** The reason when not ok. */
  problem: string | undefined;
  latencyMs: number;
}

/** One module gets this long to drain, and as long again to stop. */
const LIMIT_MS = 2_000;
const CHECK_MS = 1_500;

/** The modules of a process: started in dependency order, stopped in reverse, each with its own time limit. */
export class House {
  readonly #modules: Module[] = [];
  readonly #clock: Clock;
  readonly #warn: (message: string, error?: unknown) => void;
  #stopping: Promise<void> | undefined;

  constructor(clock: Clock, warn: (message: string, error?: unknown) => void) {
    this.#clock = clock;
    this.#warn = warn;
  }

  /**
   * Starts a module. When one fails, those before it are stopped by whoever called. One that opens while the
   * house is already stopping is stopped at once.
   */
  async start<M extends Module>(opening: Promise<M>): Promise<M> {
    const module = await opening;
    if (this.stopping) {
      await this.#try(module, 'stop', async () => module.stop());
      throw new Error(`${module.name} is not started, as the process is stopping`);
    }
    this.add(module);
    return module;
  }

  /** Takes in a module that runs already. */
  add(module: Module): void {
    this.#modules.push(module);
  }

  get stopping(): boolean {
    return this.#stopping !== undefined;
  }

  async readiness(): Promise<Readiness[]> {
    if (this.stopping) return [{ name: 'process', ok: false, problem: 'stopping', latencyMs: 0 }];
    const checked = this.#modules.filter((module) => module.check);
    return Promise.all(checked.map((module) => this.#check(module)));
  }

  async #check(module: Module): Promise<Readiness> {
    const startedAt = performance.now();
    const problem = await this.#limited(CHECK_MS, async () => module.check?.()).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    return {
      name: module.name,
      ok: problem === undefined,
      problem,
      latencyMs: performance.now() - startedAt,
    };
  }

  /** Readiness is red from here on. Repeated calls wait for the first. */
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
    await this.#limited(LIMIT_MS, work).catch((error: unknown) =>
      this.#warn(`${module.name} did not ${step} cleanly`, error),
    );
  }

  #limited(ms: number, work: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(ms, () => reject(new Error(`no answer within ${ms} ms`)));
      work().then(resolve, reject).finally(cancel);
    });
  }
}
