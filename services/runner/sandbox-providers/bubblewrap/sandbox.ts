import type { Clock } from '../../../../lib/clock.ts';
import { refuse } from '../../../../lib/errors.ts';
import type { ControlGroup } from '../../kernel/cgroups/control-group.ts';
import { coreLimitOption } from '../../kernel/core-limit.ts';
import { BUNDLE_NAME, CERTIFICATE_NAME, egressVariables } from '../../network/intercept/command-variables.ts';
import type { TlsInterceptor } from '../../network/intercept/interceptor.ts';
import { systemRootBundle } from '../../network/intercept/system-roots.ts';
import { OutputLimiter } from '../../sandbox/output-limiter.ts';
import type { Command, CommandResult, EffectiveLimits, Sandbox, SandboxSpec } from '../../sandbox/sandbox.ts';
import { isSandboxError } from '../../sandbox/sandbox-error.ts';
import { environmentVariables } from '../../sandbox/variables.ts';
import type { WorkspaceTree } from '../../sandbox/workspace-tree.ts';
import type { CopyDirectory } from '../copy-directory.ts';
import type { SandboxDirectory } from '../sandbox-directory.ts';
import type { SandboxRoot } from '../sandbox-root.ts';
import { bwrapArguments } from './bwrap-arguments.ts';
import { PIPE_COUNT } from './command-pipes.ts';
import type { NamespaceSet } from './namespace-set.ts';
import type { PipeSet } from './pipes.ts';
import type { Programs } from './programs.ts';
import { RunningCommand } from './running-command.ts';
import { encodeScript, type Rlimits, shellPrelude } from './shell-script.ts';
import type { SystemMounts } from './system-mounts.ts';

/** Namespaces with the limited network that belongs to them. */
export interface OpenNamespaces {
  namespaces: NamespaceSet;
  close(): Promise<void>;
}

interface BubblewrapSandboxOptions {
  spec: SandboxSpec;
  directory: SandboxDirectory;
  root: SandboxRoot;
  clock: Clock;
  programs: Programs;
  systemMounts: SystemMounts;
  filterPath: string;
  openNamespaces(): Promise<OpenNamespaces>;
  /** Undefined when no limit is enforced by a control group. */
  group: ControlGroup | undefined;
  rlimits: Rlimits;
  effectiveLimits: EffectiveLimits;
  /** Environment variables of every command that name the proxy of the limited network. */
  networkVariables: Readonly<Record<string, string>>;
  /** Undefined without a network. */
  interceptor: TlsInterceptor | undefined;
  /** Called when no process of the sandbox runs any more. */
  onEnd(): void;
}

/** Its commands are programs of this machine. Each has namespaces of its own within the namespaces of the sandbox. */
export class BubblewrapSandbox implements Sandbox {
  readonly provider = 'bubblewrap';
  readonly sandboxId: string;
  readonly limits: EffectiveLimits;
  readonly #options: BubblewrapSandboxOptions;
  readonly #ending = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  /** Undefined while the sandbox is suspended, and before the first resume(). */
  #open: OpenNamespaces | undefined;

  constructor(options: BubblewrapSandboxOptions) {
    this.#options = options;
    this.sandboxId = options.spec.sandboxId;
    this.limits = options.effectiveLimits;
  }

  async workspace(workspaceId: string): Promise<WorkspaceTree> {
    return (await this.#options.directory.copy(workspaceId)).tree;
  }

  removeWorkspace(workspaceId: string): Promise<void> {
    return this.#options.directory.removeCopy(workspaceId);
  }

  async run(command: Command): Promise<CommandResult> {
    if (this.#ending.signal.aborted) throw refuse('SANDBOX_UNAVAILABLE', 'The sandbox was removed.');
    const { directory } = this.#options;
    const namespaces = this.#open?.namespaces;
    if (!namespaces?.isAlive) throw refuse('SANDBOX_UNAVAILABLE', 'The sandbox has ended or is suspended.');
    const copy = await directory.copy(command.workspaceId);
    const running = this.#runWithCredentials(namespaces, command, copy);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Ends all processes. Does nothing while there are temporary files, which exist in memory only. */
  async suspend(): Promise<void> {
    if (this.#running.size > 0 || !this.#open?.namespaces.isEmpty) return;
    await this.#closeNamespaces();
  }

  async resume(): Promise<void> {
    this.#open ??= await this.#options.openNamespaces();
  }

  /** Runs all steps even when one fails. Then rejects with the error, or an AggregateError of several errors. */
  async destroy(): Promise<void> {
    if (this.#ending.signal.aborted) return;
    this.#ending.abort();
    await Promise.allSettled(this.#running);
    const { group, root } = this.#options;
    await runAll([
      async () => group?.remove(),
      () => this.#endProcesses(),
      () => root.remove(this.sandboxId),
    ]);
  }

  /** With the namespaces, the kernel ends all processes in them. */
  async #endProcesses(): Promise<void> {
    await this.#closeNamespaces();
    this.#options.onEnd();
  }

  async #closeNamespaces(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.close();
  }

  /** The credentials of the command can be used until its last process has ended. */
  async #runWithCredentials(
    namespaces: NamespaceSet,
    command: Command,
    copy: CopyDirectory,
  ): Promise<CommandResult> {
    const { interceptor } = this.#options;
    const { egress, ...plain } = command;
    if (!egress || !interceptor) return await this.#runIn(namespaces, plain, copy);
    const certificate = await interceptor.certificate();
    namespaces.trust(CERTIFICATE_NAME, certificate);
    namespaces.trust(BUNDLE_NAME, `${systemRootBundle()}${certificate}`);
    using _ = interceptor.enter(egress);
    return await this.#runIn(namespaces, command, copy);
  }

  async #runIn(namespaces: NamespaceSet, command: Command, copy: CopyDirectory): Promise<CommandResult> {
    const { clock, group, root } = this.#options;
    const signal = AbortSignal.any([command.signal, this.#ending.signal]);
    if (signal.aborted) return { exitCode: null, cause: 'stopped' };
    using pipes = await namespaces.pipes.acquire(PIPE_COUNT);
    let cause: CommandResult['cause'];
    const stop = (reason: NonNullable<CommandResult['cause']>) => {
      cause ??= reason;
      void running.kill();
    };
    const output = new OutputLimiter(command);
    const running = this.#start(namespaces, command, copy, pipes, (bytes, stream) => {
      if (cause === undefined && !output.forward(bytes, stream)) stop('output');
    });
    const cancelTimeout = clock.after(command.timeoutMs, () => stop('timeout'));
    let reachedLimit: string | undefined;
    const watch = root.monitor.watch(copy, (limit) => {
      reachedLimit = limit;
      stop('disk');
    });
    const abort = () => stop('stopped');
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    const killsBefore = group?.oomKillCount() ?? 0;
    let exitCode: number | null = null;
    let failure: unknown;
    try {
      await running.confined();
      await running.unblock();
      exitCode = await running.runScript(encodeScript(command.script, this.#variablesFor(command)));
    } catch (error) {
      failure = error;
      await running.kill();
    }
    const isGone = await running.waitUntilEnded();
    cancelTimeout();
    reachedLimit ??= (await watch.stop()) ?? copy.fullLimit;
    signal.removeEventListener('abort', abort);
    if (failure !== undefined && !isSandboxError(failure)) throw failure;
    if (!isGone) return { exitCode: null, cause: 'lost' };
    const space = reachedLimit === undefined ? {} : { reachedLimit };
    if (cause) return { exitCode: null, cause, ...space };
    if (failure !== undefined) throw startFailure(failure);
    return { ...resultOf(exitCode, (group?.oomKillCount() ?? 0) > killsBefore), ...space };
  }

  #variablesFor(command: Command): Record<string, string> {
    const variables = environmentVariables(this.#options.spec, command);
    const credentials = command.egress ? egressVariables(command.egress) : {};
    return { ...this.#options.networkVariables, ...variables, ...credentials };
  }

  /** The kernel ends a process that writes a longer file with SIGXFSZ. */
  get #fileLimit(): string {
    const { fileBytes } = this.#options.root.limits;
    return `--fsize=${fileBytes}:${fileBytes}`;
  }

  #start(
    namespaces: NamespaceSet,
    command: Command,
    copy: CopyDirectory,
    pipes: PipeSet,
    output: Command['output'],
  ): RunningCommand {
    const { systemMounts, programs, clock, filterPath, rlimits, spec, group } = this.#options;
    const { sandboxId } = this;
    const files = `${copy.name}/files`;
    coreLimit ??= coreLimitOption();
    const hasNoNetwork = spec.network.mode === 'none';
    const { skills = [], egress } = command;
    const hasTrust = egress !== undefined;
    const confinement = bwrapArguments({ systemMounts, sandboxId, files, skills, hasTrust, hasNoNetwork });
    const shell = [programs.bash, '--norc', '--noprofile', '-c', shellPrelude(rlimits), 'bash'];
    const { enterArguments } = namespaces;
    const [program, ...enter] = group
      ? [...group.joinArguments(programs.bash), ...enterArguments]
      : enterArguments;
    return new RunningCommand({
      argv: [
        program,
        ...enter,
        programs.prlimit,
        coreLimit,
        this.#fileLimit,
        programs.bwrap,
        ...confinement,
        ...shell,
      ],
      pipes,
      clock,
      filterPath,
      stdin: command.stdin,
      output,
    });
  }
}

/** Read once, because this process does not change its hard limit after its start. */
let coreLimit: string | undefined;
/** 128 + SIGKILL, as a shell reports it. */
const KILLED = 137;

function resultOf(exitCode: number | null, hadOomKill: boolean): CommandResult {
  if (exitCode === null && !hadOomKill) return { exitCode, cause: 'lost' };
  if (!hadOomKill) return { exitCode };
  // The kernel may have chosen nsenter, which has no exit code then, or bubblewrap.
  if (exitCode === null || exitCode === KILLED) return { exitCode: null, cause: 'memory' };
  return { exitCode, note: 'A process was killed because the sandbox had used up its memory.' };
}

/** Runs the steps in order. Each runs even when an earlier one has failed. */
async function runAll(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => errors.push(error));
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1)
    throw new AggregateError(errors, 'Several steps of the removal of a sandbox failed.');
}

function startFailure(cause: unknown) {
  return refuse('SANDBOX_UNAVAILABLE', 'The sandbox could not start the command.', { cause });
}
