import type { Clock } from '../../../lib/clock.ts';
import { Semaphore } from '../../../lib/semaphore.ts';
import type { Environment } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { SandboxReport } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { WorkspaceCopy } from '../workspace/copy.ts';
import type { SandboxTenant } from './sandbox-tenant.ts';

interface PooledSandboxOptions {
  clock: Clock;
  /** Called after each change of the status. */
  onStatusChange(): void;
  /** Called when the sandbox was unused for the idle timeout of its environment. */
  onIdle(pooled: PooledSandbox): void;
}

interface WorkspaceSlot {
  workspaceId: string;
  /** Admits one command at a time. */
  semaphore: Semaphore;
  /** Undefined before the first use of the workspace and after its files were removed for another one. */
  copy: WorkspaceCopy | undefined;
}

/** Limit for workspaces with files in a shared sandbox. The least recently used one is removed, and restored on use. */
const MAX_COPIES = 64;

/** A sandbox of this runner with its users and its workspaces. */
export class PooledSandbox {
  readonly sandbox: Sandbox;
  readonly tenant: SandboxTenant;
  readonly environment: Environment;
  /** Time of the last release, in milliseconds since the epoch. */
  lastReleasedAt: number;
  #status: 'ready' | 'suspended' = 'ready';
  #users = 0;
  #wasAcquired = false;
  #onUnused: (() => void)[] = [];
  #cancelIdleTimer = () => {};
  readonly #ending = new AbortController();
  readonly #workspaces = new Map<string, WorkspaceSlot>();
  /** The slots that have a copy, in the order of their last use. */
  readonly #copies = new Set<WorkspaceSlot>();
  /** Serializes resume and suspend. */
  readonly #statusSemaphore = new Semaphore(1);
  /** The newest fence of each session under whose lease the sandbox was taken. */
  readonly #fences = new Map<string, number>();
  readonly #options: PooledSandboxOptions;

  constructor(
    sandbox: Sandbox,
    tenant: SandboxTenant,
    environment: Environment,
    options: PooledSandboxOptions,
  ) {
    this.sandbox = sandbox;
    this.tenant = tenant;
    this.environment = environment;
    this.#options = options;
    this.lastReleasedAt = options.clock.now().getTime();
  }

  get report(): SandboxReport {
    return { sandboxId: this.sandbox.sandboxId, status: this.#status, reason: '' };
  }

  get isInUse(): boolean {
    return this.#users > 0;
  }

  /** Whether the sandbox is unused. A new one counts as used until the command that it was created for has used it. */
  get isEvictable(): boolean {
    return this.#wasAcquired && !this.isInUse;
  }

  /** Aborts when the sandbox ends, with the reason. */
  get endSignal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Whether the sessions service knows the sandbox. */
  get isRegistered(): boolean {
    return this.#fences.size > 0;
  }

  isTakenUnderLease(sessionId: string, fence: number): boolean {
    return this.#fences.get(sessionId) === fence;
  }

  recordLease(sessionId: string, fence: number): void {
    this.#fences.set(sessionId, fence);
  }

  /** Adds a user. A sandbox in use is neither suspended nor removed. */
  acquire(): void {
    this.#users++;
    this.#wasAcquired = true;
    this.#cancelIdleTimer();
  }

  release(): void {
    this.lastReleasedAt = this.#options.clock.now().getTime();
    if (--this.#users > 0) return;
    for (const resolve of this.#onUnused.splice(0)) resolve();
    const seconds = this.environment.spec?.idle?.timeoutSeconds ?? 0;
    if (seconds > 0) this.whenUnusedFor(seconds * 1_000, () => this.#options.onIdle(this));
  }

  /** Calls `callback` after `ms`, unless the sandbox is acquired before. Replaces an earlier callback. */
  whenUnusedFor(ms: number, callback: () => void): void {
    if (this.isInUse || this.endSignal.aborted) return;
    this.#cancelIdleTimer();
    this.#cancelIdleTimer = this.#options.clock.after(ms, callback);
  }

  /** The caller must have acquired the sandbox. */
  resume(): Promise<void> {
    return this.#statusSemaphore.run(async () => {
      if (this.#status === 'ready') return;
      await this.sandbox.resume();
      this.#status = 'ready';
      this.#options.onStatusChange();
    });
  }

  /** Does nothing when the sandbox is in use. */
  suspend(): Promise<void> {
    return this.#statusSemaphore.run(async () => {
      if (this.isInUse || this.#status === 'suspended' || this.endSignal.aborted) return;
      await this.sandbox.suspend();
      this.#status = 'suspended';
      this.#options.onStatusChange();
    });
  }

  /** Calls `work` with a workspace when earlier callers have finished with that workspace. */
  async withWorkspace<T>(workspaceId: string, work: (copy: WorkspaceCopy) => Promise<T>): Promise<T> {
    let slot = this.#workspaces.get(workspaceId);
    if (!slot) {
      slot = { workspaceId, semaphore: new Semaphore(1), copy: undefined };
      this.#workspaces.set(workspaceId, slot);
    }
    const { clock } = this.#options;
    return slot.semaphore.run(async () => {
      slot.copy ??= new WorkspaceCopy(workspaceId, await this.sandbox.workspace(workspaceId), clock);
      this.#copies.delete(slot);
      this.#copies.add(slot);
      const [oldest] = this.#copies;
      if (oldest && this.#copies.size > MAX_COPIES) void this.#removeCopy(oldest);
      return work(slot.copy);
    });
  }

  /** Ignores errors: the next user of the workspace restores it completely. */
  async #removeCopy(slot: WorkspaceSlot): Promise<void> {
    this.#copies.delete(slot);
    this.acquire();
    await slot.semaphore.run(async () => {
      slot.copy = undefined;
      this.#copies.delete(slot);
      await this.sandbox.removeWorkspace(slot.workspaceId).catch(() => {});
    });
    this.release();
  }

  /** Aborts endSignal, waits until the sandbox is unused, and destroys it. */
  async end(reason: string): Promise<void> {
    this.#ending.abort(reason);
    await this.whenUnused();
    await this.sandbox.destroy();
  }

  whenUnused(): Promise<void> {
    this.#cancelIdleTimer();
    if (this.#users === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onUnused.push(resolve));
  }
}
