import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Clock } from '../../../../lib/clock.ts';
import type { Pipe, PipeSet } from './pipes.ts';
import { childrenOf, Process } from './processes.ts';

export interface Order {
  /** A program with its arguments, which comes down to bubblewrap with walls() around the shell of a command. */
  argv: readonly [program: string, ...args: string[]];
  /** PIPES of them. */
  pipes: PipeSet;
  clock: Clock;
  /** The file with the filter of system calls. */
  filter: string;
  stdin: Uint8Array | undefined;
  output(bytes: Uint8Array, stream: 'stdout' | 'stderr'): void;
}

/** As many pipes have to be ready; after them comes the gate. */
export const PIPES = 6;
const DRAIN_BYTES = 64 * 1024;

/** One command: bubblewrap names its process, waits until it is let in, and then its shell waits for its script. */
export class Running {
  readonly #child: ChildProcess;
  readonly #clock: Clock;
  readonly #script: Socket;
  readonly #readers: Socket[] = [];
  /** Each takes what is still in the pipe of an output. */
  readonly #drains: (() => void)[] = [];
  readonly #exited: Promise<number | null>;
  readonly #walled: Promise<Process>;
  readonly #ready: Promise<unknown>;
  /** The one that all others of the command descend from. */
  #first: Process | undefined;
  #isTold = false;
  #complaint = '';

  constructor({ argv, pipes, clock, filter, stdin, output }: Order) {
    this.#clock = clock;
    const input = stdin && pipes.toCommand();
    const script = pipes.toCommand();
    const [stdout, stderr, ready, info] = [
      pipes.fromCommand(),
      pipes.fromCommand(),
      pipes.enduring(),
      pipes.enduring(),
    ];
    this.#child = start(argv, filter, [input, stdout, stderr, script, ready, info]);
    const { promise, resolve } = Promise.withResolvers<number | null>();
    this.#exited = promise;
    this.#child.once('exit', (code) => resolve(code));
    this.#child.once('error', (error) => {
      this.#complaint = error.message;
      resolve(null);
    });
    this.#walled = this.#find(info, /"child-pid"/).then(() => {
      // Its numbers are those of its room. From here it is below nsenter, and bubblewrap.
      const [around = 0] = childrenOf(this.#child.pid ?? 0);
      const [first = 0] = childrenOf(around);
      this.#first = Process.find(first);
      if (!this.#first) throw new Error('the command has no process');
      return this.#first;
    });
    this.#walled.catch(() => {});
    this.#ready = this.#find(ready, /./);
    this.#script = writer(script.near);
    if (input) writer(input.near).end(stdin);
    this.#take(stdout, (bytes) => output(bytes, 'stdout'));
    this.#take(stderr, (bytes) => {
      if (this.#isTold) output(bytes, 'stderr');
      else this.#complaint += bytes.toString();
    });
  }

  /** The process that all others of the command descend from. Rejects when it fails. */
  walledIn(): Promise<Process> {
    return this.#before(this.#walled);
  }

  /** Lets it go on to its shell, and resolves when that waits for its script. Rejects when it fails. */
  async letIn(): Promise<void> {
    const gate = this.#child.stdio.at(PIPES);
    if (gate && 'end' in gate) gate.end('.');
    await this.#before(this.#ready);
  }

  /** Begins; resolves with its exit code, or null when it was ended. */
  tell(text: string): Promise<number | null> {
    this.#isTold = true;
    this.#script.end(text);
    return this.#exited;
  }

  /** Ends it and all that it has started. */
  async end(): Promise<void> {
    // Without its first process, bubblewrap must not be ended: what it has begun would wait for it for ever.
    const known = this.#walled.catch(() => undefined);
    const first = this.#first ?? (await Promise.race([known, this.#exited.then(() => undefined)]));
    first?.end();
  }

  /** Resolves when nothing of it runs, and all that it has printed is handed on. False when it cannot be ended. */
  async settled(): Promise<boolean> {
    await this.#exited;
    this.#first?.end();
    const isGone = (await this.#first?.gone(this.#clock)) ?? true;
    for (const drain of this.#drains) drain();
    this.#script.destroy();
    for (const reader of this.#readers) reader.destroy();
    return isGone;
  }

  async #before<T>(stage: Promise<T>): Promise<T> {
    const ended = this.#exited.then(() => {
      throw new Error(this.#complaint.trim() || 'it ended before it began');
    });
    return await Promise.race([stage, ended]);
  }

  #find({ near }: Pipe, pattern: RegExp): Promise<RegExpExecArray> {
    const { promise, resolve } = Promise.withResolvers<RegExpExecArray>();
    let text = '';
    const reader = this.#reader(near);
    reader.on('data', (bytes: Buffer) => {
      text += bytes.toString();
      const found = pattern.exec(text);
      if (found) resolve(found);
    });
    return promise;
  }

  #take({ near }: Pipe, take: (bytes: Buffer) => void): void {
    const reader = this.#reader(near).on('data', take);
    this.#drains.push(() => {
      // Its other end may still be open: somebody can have handed it on to a command that goes on.
      if (!reader.destroyed) drain(near, take);
    });
  }

  #reader(fd: number): Socket {
    const reader = new Socket({ fd, readable: true, writable: false });
    reader.on('error', () => {});
    this.#readers.push(reader);
    return reader;
  }
}

function drain(fd: number, take: (bytes: Buffer) => void): void {
  const buffer = Buffer.allocUnsafe(DRAIN_BYTES);
  for (let length = 1; length > 0; ) {
    try {
      length = readSync(fd, buffer);
    } catch {
      // There is nothing more at the moment.
      return;
    }
    take(Buffer.from(buffer.subarray(0, length)));
  }
}

function writer(fd: number): Socket {
  const socket = new Socket({ fd, readable: false, writable: true });
  // Nobody has to read it.
  socket.on('error', () => {});
  return socket;
}

function start(argv: Order['argv'], filter: string, pipes: (Pipe | undefined)[]): ChildProcess {
  const [program, ...args] = argv;
  const filterFd = openSync(filter, 'r');
  try {
    const child = spawn(program, args, {
      cwd: '/',
      env: {},
      stdio: [...pipes.map((pipe) => pipe?.far ?? ('ignore' as const)), 'pipe', filterFd],
    });
    child.stdio.at(pipes.length)?.on('error', () => {});
    return child;
  } finally {
    for (const fd of [filterFd, ...pipes.flatMap((pipe) => pipe?.far ?? [])]) closeSync(fd);
  }
}
