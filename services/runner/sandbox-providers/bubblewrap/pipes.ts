import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { SandboxError } from '../../sandbox/sandbox-error.ts';
import { uniqueName } from '../directory/staging.ts';

const { O_RDONLY, O_WRONLY, O_RDWR, O_NONBLOCK } = constants;
const BATCH_SIZE = 40;
const REFILL_BELOW = 15;

export interface Pipe {
  /** File descriptor for this process. */
  runnerEnd: number;
  /** File descriptor for the command. */
  commandEnd: number;
}

/**
 * Named pipes between the runner and commands. Node's own "pipes" are sockets, which a script cannot reopen as
 * /dev/stdout, a common practice. The names lie in a directory that no command sees, and each is removed before a
 * command receives the pipe.
 */
export class PipePool {
  readonly #directory: string;
  readonly #mkfifo: string;
  readonly #names: string[] = [];
  #creating: Promise<void> | undefined;

  /** `directory` is a path as this process sees it. */
  constructor(directory: string, mkfifo: string) {
    this.#directory = directory;
    this.#mkfifo = mkfifo;
  }

  /** Returns `count` pipes for one command. Disposing the set returns the ones that were not opened. */
  async acquire(count: number): Promise<PipeSet> {
    while (this.#names.length < count) await this.#create();
    const names = this.#names.splice(-count);
    // A failure is reported to the next caller that finds too few pipes.
    if (this.#names.length < REFILL_BELOW) this.#create().catch(() => {});
    return new PipeSet(this.#directory, names, (unused) => this.#names.push(...unused));
  }

  #create(): Promise<void> {
    this.#creating ??= this.#createBatch().finally(() => {
      this.#creating = undefined;
    });
    return this.#creating;
  }

  async #createBatch(): Promise<void> {
    const names = Array.from({ length: BATCH_SIZE }, uniqueName);
    const child = spawn(this.#mkfifo, ['-m', '666', ...names], {
      cwd: this.#directory,
      env: {},
      stdio: 'ignore',
    });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new SandboxError(`mkfifo exited with ${code}`);
    this.#names.push(...names);
  }
}

export class PipeSet implements Disposable {
  readonly #directory: string;
  readonly #names: string[];
  readonly #returnUnused: (names: string[]) => void;

  constructor(directory: string, names: string[], returnUnused: (names: string[]) => void) {
    this.#directory = directory;
    this.#names = names;
    this.#returnUnused = returnUnused;
  }

  /** The command writes and this process reads. */
  fromCommand(): Pipe {
    return this.#open(O_RDONLY, O_WRONLY);
  }

  /** This process writes and the command reads. */
  toCommand(): Pipe {
    return this.#open(O_WRONLY, O_RDONLY);
  }

  /** The command writes and this process reads. The command gets no SIGPIPE when this process closes its end. */
  fromCommandWithoutSigpipe(): Pipe {
    return this.#open(O_RDONLY, O_RDWR);
  }

  [Symbol.dispose](): void {
    this.#returnUnused(this.#names.splice(0));
  }

  #open(runnerFlags: number, commandFlags: number): Pipe {
    const name = this.#names.pop();
    if (name === undefined) throw new Error('the set has no pipe left');
    const path = `${this.#directory}/${name}`;
    // While both ends are open, opening either end does not block.
    const both = openSync(path, O_RDWR);
    let runnerEnd: number | undefined;
    try {
      runnerEnd = openSync(path, runnerFlags | O_NONBLOCK);
      return { runnerEnd, commandEnd: openSync(path, commandFlags) };
    } catch (error) {
      if (runnerEnd !== undefined) closeSync(runnerEnd);
      throw error;
    } finally {
      closeSync(both);
      unlinkSync(path);
    }
  }
}
