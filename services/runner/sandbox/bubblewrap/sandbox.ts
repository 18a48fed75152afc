import type { Clock } from '../../../../lib/clock.ts';
import { refuse } from '../../../../lib/errors.ts';
import { Output } from '../output.ts';
import type { Ground, Place } from '../place.ts';
import { watchReserve } from '../reserve.ts';
import type { Command, CommandEnd, LimitsInForce, Sandbox, SandboxSpec } from '../sandbox.ts';
import type { WorkspaceTree } from '../tree.ts';
import { variablesOf } from '../variables.ts';
import { walls } from './command.ts';
import type { PipeSet } from './pipes.ts';
import type { Programs } from './programs.ts';
import type { Room } from './room.ts';
import { PIPES, Running } from './running.ts';
import { prelude, type Rlimits, telling } from './script.ts';
import type { System } from './system.ts';

/** A control group of a sandbox, and what it has done to it. */
export interface Group {
  /** The process and all that it starts from now on. */
  enter(pid: number): void;
  /** How many processes were ended because they wanted more memory than there is. */
  killed(): number;
  remove(): Promise<void>;
}

/** A room, with the network that belongs to it. */
export interface OpenRoom {
  room: Room;
  close(): Promise<void>;
}

export interface BubblewrapOptions {
  spec: SandboxSpec;
  place: Place;
  ground: Ground;
  clock: Clock;
  programs: Programs;
  system: System;
  filter: string;
  openRoom(): Promise<OpenRoom>;
  /** Undefined when no limit is kept by one. */
  group: Group | undefined;
  rlimits: Rlimits;
  limits: LimitsInForce;
  /** Variables of every command by which it finds the network that it may use. */
  networkVariables: Readonly<Record<string, string>>;
  /** Nothing of it runs any more. */
  onEnd(): void;
}

/** Commands that are programs of this machine, each in namespaces of its own, all in the room of the sandbox. */
export class BubblewrapSandbox implements Sandbox {
  readonly provider = 'bubblewrap';
  readonly sandboxId: string;
  readonly limits: LimitsInForce;
  readonly #options: BubblewrapOptions;
  readonly #ending = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  /** Absent while it is suspended, as it is at first. */
  #open: OpenRoom | undefined;

  constructor(options: BubblewrapOptions) {
    this.#options = options;
    this.sandboxId = options.spec.sandboxId;
    this.limits = options.limits;
  }

  async workspace(workspaceId: string): Promise<WorkspaceTree> {
    return this.#options.place.workspace(workspaceId);
  }

  async run(command: Command): Promise<CommandEnd> {
    if (this.#ending.signal.aborted) throw refuse('SANDBOX_UNAVAILABLE', 'The sandbox has been removed.');
    const { place } = this.#options;
    const room = this.#open?.room;
    if (!room?.isThere) throw refuse('SANDBOX_UNAVAILABLE', 'The sandbox has ended, or is suspended.');
    if (!place.has(command.workspaceId)) place.workspace(command.workspaceId);
    const running = this.#carryOut(room, command);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Gives back its room, with all processes. One with temporary files stays: they are in memory, and nowhere else. */
  async suspend(): Promise<void> {
    if (this.#running.size > 0 || !this.#open?.room.isEmpty) return;
    await this.#leaveRoom();
  }

  async resume(): Promise<void> {
    this.#open ??= await this.#options.openRoom();
  }

  async destroy(): Promise<void> {
    if (this.#ending.signal.aborted) return;
    this.#ending.abort();
    await Promise.allSettled(this.#running);
    const { group, ground, onEnd } = this.#options;
    await group?.remove();
    await this.#leaveRoom();
    onEnd();
    await ground.remove(this.sandboxId);
  }

  async #leaveRoom(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.close();
  }

  async #carryOut(room: Room, command: Command): Promise<CommandEnd> {
    const { clock, group, place } = this.#options;
    const signal = AbortSignal.any([command.signal, this.#ending.signal]);
    if (signal.aborted) return { exitCode: null, cause: 'stopped' };
    using pipes = await room.pipes.take(PIPES);
    let cause: CommandEnd['cause'];
    const stop = (why: NonNullable<CommandEnd['cause']>) => {
      cause ??= why;
      void running.end();
    };
    const output = new Output(command);
    const running = this.#start(room, command, pipes, (bytes, stream) => {
      if (cause === undefined && !output.take(bytes, stream)) stop('output');
    });
    const cancel = clock.after(command.timeoutMs, () => stop('timeout'));
    const unwatch = watchReserve(place.path, clock, () => stop('disk'));
    const abort = () => stop('stopped');
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    const killedBefore = group?.killed() ?? 0;
    let exitCode: number | null = null;
    let failure: unknown;
    try {
      const first = await running.walledIn();
      group?.enter(first.pid);
      await running.letIn();
      exitCode = await running.tell(telling(command.script, this.#variablesFor(command)));
    } catch (error) {
      failure = error;
      await running.end();
    }
    const isGone = await running.settled();
    cancel();
    unwatch();
    signal.removeEventListener('abort', abort);
    if (!isGone) return { exitCode: null, cause: 'lost' };
    if (cause === 'disk') return { exitCode: null, cause, note: DISK_FULL };
    if (cause) return { exitCode: null, cause };
    if (failure !== undefined) throw unavailable(failure);
    return ended(exitCode, (group?.killed() ?? 0) > killedBefore);
  }

  #variablesFor(command: Command): Record<string, string> {
    return { ...this.#options.networkVariables, ...variablesOf(this.#options.spec, command) };
  }

  #start(room: Room, command: Command, pipes: PipeSet, output: Command['output']): Running {
    const { system, programs, clock, filter, rlimits, spec } = this.#options;
    const { sandboxId } = this;
    const isCutOff = spec.network.mode === 'none';
    const around = walls({ system, sandboxId, workspaceId: command.workspaceId, isCutOff });
    const shell = [programs.bash, '--norc', '--noprofile', '-c', prelude(rlimits), 'bash'];
    return new Running({
      argv: [...room.entrance, programs.prlimit, NO_CORE, programs.bwrap, ...around, ...shell],
      pipes,
      clock,
      filter,
      stdin: command.stdin,
      output,
    });
  }
}

/**
 * The machine may hand what is left of a program that crashed to one of its own, as root. With the limit of one byte,
 * and no other, the kernel does not.
 */
const NO_CORE = '--core=1:1';
const DISK_FULL = 'The disk of the runner is nearly full.';
const KILLED = 137;

function ended(exitCode: number | null, wasShort: boolean): CommandEnd {
  if (exitCode === null) return { exitCode: null, cause: 'lost' };
  if (!wasShort) return { exitCode };
  if (exitCode === KILLED) return { exitCode: null, cause: 'memory' };
  return { exitCode, note: 'A process of it was ended because the memory of the sandbox was used up.' };
}

function unavailable(cause: unknown) {
  return refuse('SANDBOX_UNAVAILABLE', 'The sandbox could not begin the command.', { cause });
}
