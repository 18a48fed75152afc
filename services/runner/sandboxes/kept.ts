import type { Clock } from '../../../lib/clock.ts';
import type { Environment } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { SandboxReport } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { Places } from '../places.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { WorkspaceCopy } from '../workspace/copy.ts';
import type { Tenant } from './tenant.ts';

export interface KeptOptions {
  clock: Clock;
  /** Its status is another one. */
  onChange(): void;
  /** Nobody has used it for as long as its environment says. */
  onIdle(kept: KeptSandbox): void;
}

interface Workplace {
  turns: Places;
  /** Absent until it is worked on, and after others have needed its room. */
  copy: WorkspaceCopy | undefined;
}

/** Those who share a sandbox have so many workspaces in it; another one is brought in anew when it is needed again. */
const MOST_COPIES = 64;

/** A sandbox of this runner, and who is in it. */
export class KeptSandbox {
  readonly sandbox: Sandbox;
  readonly tenant: Tenant;
  readonly environment: Environment;
  /** Of those that are not used, the one that was left first. */
  leftAt: number;
  #status: 'ready' | 'suspended' = 'ready';
  #users = 0;
  #whenEmpty: (() => void)[] = [];
  #cancelIdle = () => {};
  readonly #ending = new AbortController();
  /** Each workspace that was worked on here, for one at a time. */
  readonly #workplaces = new Map<string, Workplace>();
  /** Those with a copy, the one that was used last at the end. */
  readonly #used = new Set<Workplace>();
  /** It is woken and put to sleep one after the other. */
  readonly #switching = new Places(1);
  /** The newest fence of each session that has taken it. */
  readonly #fences = new Map<string, number>();
  readonly #options: KeptOptions;

  constructor(sandbox: Sandbox, tenant: Tenant, environment: Environment, options: KeptOptions) {
    this.sandbox = sandbox;
    this.tenant = tenant;
    this.environment = environment;
    this.#options = options;
    this.leftAt = options.clock.now().getTime();
  }

  get report(): SandboxReport {
    return { sandboxId: this.sandbox.sandboxId, status: this.#status, reason: '' };
  }

  get isUsed(): boolean {
    return this.#users > 0;
  }

  /** Aborts, with the reason, when it has to end. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** Sessions knows of it. */
  get isTaken(): boolean {
    return this.#fences.size > 0;
  }

  isTakenUnder(sessionId: string, fence: number): boolean {
    return this.#fences.get(sessionId) === fence;
  }

  takenUnder(sessionId: string, fence: number): void {
    this.#fences.set(sessionId, fence);
  }

  /** As long as somebody is in it, it is neither put to sleep nor removed. */
  enter(): void {
    this.#users++;
    this.#cancelIdle();
  }

  leave(): void {
    this.leftAt = this.#options.clock.now().getTime();
    if (--this.#users > 0) return;
    for (const done of this.#whenEmpty.splice(0)) done();
    const seconds = this.environment.spec?.idle?.timeoutSeconds ?? 0;
    if (seconds > 0) this.unlessEntered(seconds * 1_000, () => this.#options.onIdle(this));
  }

  /** Does something when nobody has entered it until then. */
  unlessEntered(ms: number, work: () => void): void {
    if (this.isUsed || this.ending.aborted) return;
    this.#cancelIdle();
    this.#cancelIdle = this.#options.clock.after(ms, work);
  }

  /** For who has entered. */
  wake(): Promise<void> {
    return this.#switching.take(async () => {
      if (this.#status === 'ready') return;
      await this.sandbox.resume();
      this.#status = 'ready';
      this.#options.onChange();
    });
  }

  /** Unless somebody enters it. */
  suspend(): Promise<void> {
    return this.#switching.take(async () => {
      if (this.isUsed || this.#status === 'suspended' || this.ending.aborted) return;
      await this.sandbox.suspend();
      this.#status = 'suspended';
      this.#options.onChange();
    });
  }

  /** The work on one of its workspaces, as soon as those before are done. */
  async inWorkspace<T>(workspaceId: string, work: (copy: WorkspaceCopy) => Promise<T>): Promise<T> {
    let place = this.#workplaces.get(workspaceId);
    if (!place) {
      place = { turns: new Places(1), copy: undefined };
      this.#workplaces.set(workspaceId, place);
    }
    const { clock } = this.#options;
    return place.turns.take(async () => {
      place.copy ??= new WorkspaceCopy(workspaceId, await this.sandbox.workspace(workspaceId), clock);
      this.#used.delete(place);
      this.#used.add(place);
      const [oldest] = this.#used;
      if (oldest && this.#used.size > MOST_COPIES) void this.#empty(oldest);
      return work(place.copy);
    });
  }

  /** What fails here is mended by the next who needs the workspace: everything is brought in anew. */
  async #empty(place: Workplace): Promise<void> {
    this.#used.delete(place);
    this.enter();
    await place.turns.take(async () => {
      const { copy } = place;
      place.copy = undefined;
      this.#used.delete(place);
      await copy?.tree.clear().catch(() => {});
    });
    this.leave();
  }

  /** Whoever is in it is told to leave; resolves when it is gone. */
  async end(reason: string): Promise<void> {
    this.#ending.abort(reason);
    await this.whenLeft();
    await this.sandbox.destroy();
  }

  whenLeft(): Promise<void> {
    this.#cancelIdle();
    if (this.#users === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenEmpty.push(resolve));
  }
}
