import type { Clock } from '../../../lib/clock.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { Log } from '../../../lib/log.ts';
import type {
  SandboxReport,
  SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';

const INTERVAL_MS = 5_000;

interface SandboxReporterOptions {
  sessions: Pick<Client<SessionsServiceDefinition>, 'reportSandboxes'>;
  clock: Clock;
  log: Log;
  runnerId: string;
  /** Returns the reports of all sandboxes that the sessions service knows. */
  list(): SandboxReport[];
  /** Called with the ids of sandboxes whose end was requested. */
  end(sandboxIds: readonly string[]): void;
}

/** Reports the status of all sandboxes to the sessions service: after each change, and every 5 seconds. */
export class SandboxReporter {
  readonly #options: SandboxReporterOptions;
  /** Ended sandboxes whose end is not reported yet. */
  readonly #ended = new Map<string, SandboxReport>();
  #isDue = false;
  #running: Promise<void> | undefined;
  #cancel = () => {};
  #isStopped = false;
  #isSilent = false;
  #isFailing = false;

  constructor(options: SandboxReporterOptions) {
    this.#options = options;
  }

  /** Reports soon. Call it after each change, and when the end of a sandbox may have been requested. */
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

  /** Resolves when all ends are reported. Nothing is reported after that. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#running;
    if (this.#ended.size > 0) await this.#send();
  }

  stopWithoutReport(): void {
    this.#isStopped = true;
    this.#isSilent = true;
    this.#cancel();
  }

  async #run(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false;
      // Combines changes of the same moment into one report.
      await Promise.resolve();
      await this.#send();
    }
    this.#schedule();
  }

  #schedule(): void {
    this.#cancel();
    const isNeeded = this.#ended.size > 0 || this.#options.list().length > 0;
    if (isNeeded && !this.#isStopped)
      this.#cancel = this.#options.clock.after(INTERVAL_MS, () => this.changed());
  }

  async #send(): Promise<void> {
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
      if (!this.#isFailing) log.warn({ err: error }, 'the sandbox report failed; retrying');
      this.#isFailing = true;
    }
  }
}
