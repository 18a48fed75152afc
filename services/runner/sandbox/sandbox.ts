import type { Network, ProviderName } from '../../../lib/sandboxes.ts';
import type { WorkspaceTree } from './tree.ts';

/** What every provider of sandboxes offers. Nothing outside of a provider's own files knows how it does it. */
export interface SandboxProvider {
  readonly name: ProviderName;
  /** Makes an empty sandbox. Refused with SANDBOX_UNAVAILABLE when it cannot be had. */
  create(spec: SandboxSpec): Promise<Sandbox>;
  /**
   * Finds one that an earlier process of this runner left behind; undefined when it is not there any more. For
   * sandboxes that outlive their runner, as containers and pods do: what the providers of this release find again is
   * the workspaces, which are kept elsewhere, so that their runner releases them when it stops and begins without any.
   */
  attach(spec: SandboxSpec): Promise<Sandbox | undefined>;
  /** Removes everything that an earlier process left behind, but these. */
  sweep(keptSandboxIds: readonly string[]): Promise<void>;
}

export interface SandboxSpec {
  /** sbx_… */
  sandboxId: string;
  limits: SandboxLimits;
  network: { mode: Network; allowedHosts: readonly string[] };
  /** Environment variables of every command. */
  variables: Readonly<Record<string, string>>;
  /** For providers that start from one; empty for the provider's own. */
  image: string;
}

/** Absent ones are the provider's own. */
export interface SandboxLimits {
  /** Thousandths of a processor. */
  cpuMillis?: number | undefined;
  memoryMib?: number | undefined;
  /** Processes at the same time. */
  pids?: number | undefined;
  /** Of temporary files; the workspace has its own quota. */
  diskMib?: number | undefined;
}

/** How a limit is kept on this machine: for a sandbox as a whole, for each command or each process, or not at all. */
export type Enforcement = 'sandbox' | 'command' | 'process' | 'none';

export interface LimitsInForce {
  cpuMillis: { value: number | null; enforcement: Enforcement };
  memoryMib: { value: number | null; enforcement: Enforcement };
  pids: { value: number | null; enforcement: Enforcement };
  diskMib: { value: number | null; enforcement: Enforcement };
}

export interface Sandbox {
  readonly sandboxId: string;
  readonly provider: ProviderName;
  readonly limits: LimitsInForce;
  /**
   * The tree of a workspace, by its id (wsp_…), which commands find as /workspace. It is made when it is not
   * there. No command may run in it while it is written or scanned; who shares it takes turns.
   */
  workspace(workspaceId: string): Promise<WorkspaceTree>;
  /** Runs one command to its end. Never fails but for SANDBOX_UNAVAILABLE; nothing of it runs on when this settles. */
  run(command: Command): Promise<CommandEnd>;
  /**
   * Gives back what it costs to be ready, as far as no file is lost by it: a container is paused, a pod that has a
   * volume is deleted. No command may run in it until it was resumed.
   */
  suspend(): Promise<void>;
  resume(): Promise<void>;
  /** Ends what runs in it and removes everything. */
  destroy(): Promise<void>;
}

export interface Command {
  /** A script for bash. */
  script: string;
  /** wsp_…: the workspace it runs in, which is its working directory. */
  workspaceId: string;
  /** What it can read from its standard input; nothing when absent. */
  stdin?: Uint8Array | undefined;
  /** Beside those of the sandbox. */
  variables?: Readonly<Record<string, string>> | undefined;
  /** When it and everything it has started are ended. */
  timeoutMs: number;
  /** Ends it, and everything it has started, at once. */
  signal: AbortSignal;
  /** What it prints, as it comes. */
  output(bytes: Uint8Array, stream: 'stdout' | 'stderr'): void;
  /** More output than this ends it. */
  maxOutputBytes: number;
}

export interface CommandEnd {
  /** 0–255; null when it did not end by itself. */
  exitCode: number | null;
  /** Why it did not: its time was up, the signal aborted, it printed or wrote too much, or the sandbox was lost. */
  cause?: 'timeout' | 'stopped' | 'output' | 'memory' | 'disk' | 'lost';
  /** For the model: what else there is to know, in one line. */
  note?: string;
}
