import type { LimitName, Network, ProviderName } from '../../../lib/sandboxes.ts';
import type { EgressCredentials } from '../network/intercept/egress-credentials.ts';
import type { WorkspaceTree } from './workspace-tree.ts';

/** Creates sandboxes with one technology. Code outside a provider's own folder uses this interface only. */
export interface SandboxProvider {
  readonly name: ProviderName;
  /** Limits that it cannot enforce on this machine; absent when it enforces all that the provider supports. */
  readonly unenforcedLimits?: readonly LimitName[];
  /** Creates an empty sandbox. Rejects with SANDBOX_UNAVAILABLE when this machine cannot provide one. */
  create(spec: SandboxSpec): Promise<Sandbox>;
  /** Removes everything that an earlier process left behind. Call it before the first create(). */
  sweep(): Promise<void>;
}

export interface SandboxSpec {
  /** sbx_… */
  sandboxId: string;
  limits: SandboxLimits;
  network: { mode: Network; allowedHosts: readonly string[] };
  /** Environment variables of every command. */
  variables: Readonly<Record<string, string>>;
  /** For providers that start from an image; empty for the provider's default. */
  image: string;
}

/** The provider has a default for each limit that is absent. */
export interface SandboxLimits {
  /** Thousandths of a processor. */
  cpuMillis?: number | undefined;
  memoryMib?: number | undefined;
  /** Processes at the same time. */
  pids?: number | undefined;
  /** Temporary files only. */
  diskMib?: number | undefined;
  /** The copy of each workspace. */
  workspaceMib?: number | undefined;
}

/** The unit to which this machine applies a limit: the sandbox, each workspace, command or process, or none. */
type Enforcement = 'sandbox' | 'workspace' | 'command' | 'process' | 'none';

interface EffectiveLimit {
  value: number | null;
  enforcement: Enforcement;
}

/** A limit of disk space, with the means of its enforcement in words. */
interface EffectiveSpaceLimit extends EffectiveLimit {
  method: string;
}

export interface EffectiveLimits {
  cpuMillis: EffectiveLimit;
  memoryMib: EffectiveLimit;
  pids: EffectiveLimit;
  diskMib: EffectiveSpaceLimit;
  workspaceMib: EffectiveSpaceLimit;
  /** Applies separately to directories. */
  workspaceFiles: EffectiveSpaceLimit;
}

export interface Sandbox {
  readonly sandboxId: string;
  readonly provider: ProviderName;
  readonly limits: EffectiveLimits;
  /**
   * Returns the tree of the workspace with this id (wsp_…), which commands see as /workspace, and creates it when it
   * is missing. No command may run in a workspace while its tree is written or scanned; callers take turns.
   */
  workspace(workspaceId: string): Promise<WorkspaceTree>;
  /**
   * Removes the files of a workspace and releases their space, also while commands run in other workspaces. Does nothing
   * when the sandbox has no such workspace. The caller must have finished with its tree.
   */
  removeWorkspace(workspaceId: string): Promise<void>;
  /**
   * Runs one command. All of its processes have ended when the promise resolves or rejects. Rejects with SANDBOX_UNAVAILABLE when the
   * command could not start, or with a SandboxError or system error when the sandbox has failed.
   */
  run(command: Command): Promise<CommandResult>;
  /**
   * Releases processes and memory where that loses no file: a container is paused, a pod with a volume is deleted.
   * No command may run until resume().
   */
  suspend(): Promise<void>;
  resume(): Promise<void>;
  /** Ends all commands and removes the sandbox with its files. */
  destroy(): Promise<void>;
}

/** A skill that a command sees read-only, as a directory of its name in /skills. */
export interface SkillMount {
  name: string;
  /** The name of its copy in the directory with the copies of this runner. The copy must exist until the command has ended. */
  copy: string;
}

export interface Command {
  /** A script for bash. */
  script: string;
  /** wsp_…: the workspace that is the working directory. */
  workspaceId: string;
  /** Only this command sees them. Absent: none. */
  skills?: readonly SkillMount[] | undefined;
  /** Standard input; empty when absent. */
  stdin?: Uint8Array | undefined;
  /** Environment variables in addition to those of the sandbox. */
  variables?: Readonly<Record<string, string>> | undefined;
  /** The credentials that its requests can carry, where the provider supports that. Absent: none. */
  egress?: EgressCredentials | undefined;
  /** After this time, the command is ended with everything that it has started. */
  timeoutMs: number;
  /** Ends the command and everything that it has started, immediately. */
  signal: AbortSignal;
  /** Receives the output while the command runs, as far as the provider has it by then. */
  output(bytes: Uint8Array, stream: 'stdout' | 'stderr'): void;
  /** The command is ended when its output exceeds this. */
  maxOutputBytes: number;
}

export interface CommandResult {
  /** 0–255; null when the command did not end by itself. */
  exitCode: number | null;
  /** Why a command was ended: timeout, aborted signal, output, memory or disk limit, or loss of the sandbox. */
  cause?: 'timeout' | 'stopped' | 'output' | 'memory' | 'disk' | 'lost';
  /** One line of further information for the model. */
  note?: string;
  /**
   * The limit that the copy of the workspace has reached, as a clause. The copy may be incomplete, so its changes must
   * be discarded. It can be set for a command that ended by itself.
   */
  reachedLimit?: string;
}
