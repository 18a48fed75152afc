import type { Clock } from '../../../lib/clock.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { Log } from '../../../lib/log.ts';
import type {
  SandboxReport,
  SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';

const EVERY_MS = 5_000;

export interface ReportsOptions {
  sessions: Pick<Client<SessionsServiceDefinition>, 'reportSandboxes'>;
  clock: Clock;
  log: Log;
  runnerId: string;
  /** All that are there. */
  list(): SandboxReport[];
  /** These have to end. */
  end(sandboxIds: readonly string[]): void;
}

/** Tells sessions how the sandboxes are doing: at once when something has changed, and every few seconds. */
export class Reports {
  readonly #options: ReportsOptions;
  /** Of which sessions has not been told yet that they have ended. */
  readonly #ended = new Map<string, SandboxReport>();
  #isDue = false;
  #running: Promise<void> | undefined;
  #cancel = () => {};
  #isStopped = false;
  #isSilent = false;
  #isFailing = false;

  constructor(options: ReportsOptions) {
    this.#options = options;
  }

  /** Something has changed, or may have to. */
  changed(): void {
    this.#isDue = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  ended(report: SandboxReport): void {
    this.#ended.set(report.sandboxId, report);
    this.changed();
  }

  /** Resolves when all is said; nothing more is said then. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#running;
    if (this.#ended.size > 0) await this.#tell();
  }

  silence(): void {
    this.#isStopped = true;
    this.#isSilent = true;
    this.#cancel();
  }

  async #run(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false;
      // What changes in the same moment is said together.
      await Promise.resolve();
      await this.#tell();
    }
    this.#schedule();
  }

  #schedule(): void {
    this.#cancel();
    const isNeeded = this.#ended.size > 0 || this.#options.list().length > 0;
    if (isNeeded && !this.#isStopped)
      this.#cancel = this.#options.clock.after(EVERY_MS, () => this.changed());
  }

  async #tell(): Promise<void> {
    const { sessions, runnerId, list, end, log } = this.#options;
    const ended = [...this.#ended.values()];
    const sandboxes = [...list().filter(({ sandboxId }) => !this.#ended.has(sandboxId)), ...ended];
    if (sandboxes.length === 0 || this.#isSilent) return;
    try {
      const { endSandboxIds } = await sessions.reportSandboxes({ runnerId, sandboxes });
      for (const { sandboxId } of ended) this.#ended.delete(sandboxId);
      this.#isFailing = false;
      end(endSandboxIds);
    } catch (error) {
      if (!this.#isFailing) log.warn({ err: error }, 'sandboxes cannot be reported; trying on');
      this.#isFailing = true;
    }
  }
}
