import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Clock } from '../../../../lib/clock.ts';
import { childrenOf, ProcessHandle } from '../../kernel/processes.ts';
import { SandboxError } from '../../sandbox/sandbox-error.ts';
import { closeCommandEnds, closeRunnerEnds, openPipes, PIPE_COUNT } from './command-pipes.ts';
import type { Pipe, PipeSet } from './pipes.ts';

interface RunningCommandOptions {
  /** A program with its arguments. It ends up running bubblewrap with bwrapArguments() and the shell of the command. */
  argv: readonly [program: string, ...args: string[]];
  /** Holds PIPE_COUNT pipes. */
  pipes: PipeSet;
  clock: Clock;
  /** The file with the seccomp filter. */
  filterPath: string;
  stdin: Uint8Array | undefined;
  output(bytes: Uint8Array, stream: 'stdout' | 'stderr'): void;
}

const DRAIN_BYTES = 64 * 1024;

/**
 * One command, started in three steps: bubblewrap reports the first process of the command and blocks; unblocked, it
 * starts the shell; the shell reports that it is ready and waits for the script.
 */
export class RunningCommand {
  readonly #child: ChildProcess;
  readonly #clock: Clock;
  readonly #script: Socket;
  readonly #readers: Socket[] = [];
  /** Each reads the bytes that are still in the pipe of one output stream. */
  readonly #drains: (() => void)[] = [];
  readonly #exited: Promise<number | null>;
  readonly #confined: Promise<ProcessHandle>;
  readonly #ready: Promise<unknown>;
  /** The ancestor of all processes of the command: the first process of its pid namespace. */
  #first: ProcessHandle | undefined;
  #hasScript = false;
  /** Standard error output before the shell has the script: messages of bubblewrap and nsenter. */
  #startError = '';

  constructor({ argv, pipes, clock, filterPath, stdin, output }: RunningCommandOptions) {
    this.#clock = clock;
    const opened = openPipes(pipes, stdin !== undefined);
    const { input, stdout, stderr, script, ready, info } = opened;
    try {
      this.#child = spawnCommand(argv, filterPath, [input, stdout, stderr, script, ready, info]);
    } catch (error) {
      closeRunnerEnds(Object.values(opened));
      throw error;
    }
    const { promise, resolve } = Promise.withResolvers<number | null>();
    this.#exited = promise;
    this.#child.once('exit', (code) => resolve(code));
    this.#child.once('error', (error) => {
      this.#startError = error.message;
      resolve(null);
    });
    this.#confined = this.#waitForText(info, /"child-pid"/).then(() => this.#findFirst());
    this.#confined.catch(() => {});
    this.#ready = this.#waitForText(ready, /./);
    this.#script = openWriter(script.runnerEnd);
    if (input) openWriter(input.runnerEnd).end(stdin ?? '');
    this.#forward(stdout, (bytes) => output(bytes, 'stdout'));
    this.#forward(stderr, (bytes) => {
      if (this.#hasScript) output(bytes, 'stderr');
      else this.#startError += bytes.toString();
    });
  }

  /** Resolves with the ancestor of all processes of the command. Rejects with a SandboxError. */
  confined(): Promise<ProcessHandle> {
    return this.#unlessExited(this.#confined);
  }

  /** Unblocks bubblewrap. Resolves when the shell waits for its script. Rejects with a SandboxError. */
  async unblock(): Promise<void> {
    const blockPipe = this.#child.stdio.at(PIPE_COUNT);
    if (blockPipe && 'end' in blockPipe) blockPipe.end('.');
    await this.#unlessExited(this.#ready);
  }

  /** Sends the script. Resolves with the exit code of the command, or null when it was killed. */
  runScript(text: string): Promise<number | null> {
    this.#hasScript = true;
    this.#script.end(text);
    return this.#exited;
  }

  /** Kills the command with all processes that it has started. */
  async kill(): Promise<void> {
    // Killing bubblewrap alone would leave the first process of the command waiting for it forever.
    const found = this.#confined.catch(() => 'not found' as const);
    const first = this.#first ?? (await Promise.race([found, this.#exited.then(() => undefined)]));
    if (first === 'not found') await ProcessHandle.killTree(this.#child.pid ?? 0, this.#clock);
    else first?.kill();
  }

  /** Resolves when no process of it runs and its output was forwarded. Returns false when it cannot be killed. */
  async waitUntilEnded(): Promise<boolean> {
    await this.#exited;
    this.#first?.kill();
    const isGone = (await this.#first?.waitUntilGone(this.#clock)) ?? true;
    for (const drain of this.#drains) drain();
    this.#script.destroy();
    for (const reader of this.#readers) reader.destroy();
    return isGone;
  }

  #findFirst(): ProcessHandle {
    // The pid that bubblewrap reports is one of the sandbox's pid namespace. Seen from here, the process is the child
    // of bubblewrap, which is the child of nsenter.
    const [bwrap = 0] = childrenOf(this.#child.pid ?? 0);
    const [first = 0] = childrenOf(bwrap);
    this.#first = ProcessHandle.find(first);
    if (!this.#first) throw new SandboxError('the first process of the command was not found');
    return this.#first;
  }

  async #unlessExited<T>(stage: Promise<T>): Promise<T> {
    const exited = this.#exited.then(() => {
      throw new SandboxError(this.#startError.trim() || 'bubblewrap ended before the command started');
    });
    return await Promise.race([stage, exited]);
  }

  #waitForText({ runnerEnd }: Pipe, pattern: RegExp): Promise<RegExpExecArray> {
    const { promise, resolve } = Promise.withResolvers<RegExpExecArray>();
    let text = '';
    const reader = this.#openReader(runnerEnd);
    reader.on('data', (bytes: Buffer) => {
      text += bytes.toString();
      const match = pattern.exec(text);
      if (match) resolve(match);
    });
    return promise;
  }

  #forward({ runnerEnd }: Pipe, output: (bytes: Buffer) => void): void {
    const reader = this.#openReader(runnerEnd).on('data', output);
    this.#drains.push(() => {
      // The pipe may not be at its end: the command can have passed it to another command, which still runs.
      if (!reader.destroyed) drain(runnerEnd, output);
    });
  }

  #openReader(fd: number): Socket {
    const reader = new Socket({ fd, readable: true, writable: false });
    reader.on('error', () => {});
    this.#readers.push(reader);
    return reader;
  }
}

function drain(fd: number, output: (bytes: Buffer) => void): void {
  const buffer = Buffer.allocUnsafe(DRAIN_BYTES);
  for (let length = 1; length > 0; ) {
    try {
      length = readSync(fd, buffer);
    } catch {
      // EAGAIN: the pipe is empty.
      return;
    }
    output(Buffer.from(buffer.subarray(0, length)));
  }
}

function openWriter(fd: number): Socket {
  const socket = new Socket({ fd, readable: false, writable: true });
  // A command need not read its input.
  socket.on('error', () => {});
  return socket;
}

function spawnCommand(
  argv: RunningCommandOptions['argv'],
  filterPath: string,
  pipes: (Pipe | undefined)[],
): ChildProcess {
  const [program, ...args] = argv;
  const filterFd: number[] = [];
  try {
    filterFd.push(openSync(filterPath, 'r'));
    const child = spawn(program, args, {
      cwd: '/',
      env: {},
      stdio: [...pipes.map((pipe) => pipe?.commandEnd ?? ('ignore' as const)), 'pipe', ...filterFd],
    });
    // There is no stdio when spawn() has failed because too many files are open, which it reports with an event.
    const { stdio }: Partial<ChildProcess> = child;
    stdio?.at(pipes.length)?.on('error', () => {});
    return child;
  } finally {
    for (const fd of filterFd) closeSync(fd);
    closeCommandEnds(pipes);
  }
}
