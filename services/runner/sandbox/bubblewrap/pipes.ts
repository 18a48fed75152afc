import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { freshName } from '../directory/erase.ts';

const { O_RDONLY, O_WRONLY, O_RDWR, O_NONBLOCK } = constants;
const BATCH = 40;
const FEW = 15;

export interface Pipe {
  /** For this process. */
  near: number;
  /** For a command. */
  far: number;
}

/**
 * Pipes between the runner and commands. What Node makes under that name are sockets, which programs cannot open
 * again as /dev/stdout, and that is common in scripts. These begin as names in a directory that nobody else sees, and
 * lose them before a command gets them.
 */
export class Pipes {
  readonly #directory: string;
  readonly #mkfifo: string;
  readonly #names: string[] = [];
  #making: Promise<void> | undefined;

  /** `directory` as this process can name it. */
  constructor(directory: string, mkfifo: string) {
    this.#directory = directory;
    this.#mkfifo = mkfifo;
  }

  /** As many for one command; those that it does not open can be given back. */
  async take(count: number): Promise<PipeSet> {
    while (this.#names.length < count) await this.#make();
    const names = this.#names.splice(-count);
    // Who needs more than there are hears why there are none.
    if (this.#names.length < FEW) this.#make().catch(() => {});
    return new PipeSet(this.#directory, names, (unused) => this.#names.push(...unused));
  }

  #make(): Promise<void> {
    this.#making ??= this.#makeBatch().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #makeBatch(): Promise<void> {
    const names = Array.from({ length: BATCH }, freshName);
    const child = spawn(this.#mkfifo, ['-m', '666', ...names], {
      cwd: this.#directory,
      env: {},
      stdio: 'ignore',
    });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error('no pipes can be made');
    this.#names.push(...names);
  }
}

export class PipeSet implements Disposable {
  readonly #directory: string;
  readonly #names: string[];
  readonly #giveBack: (names: string[]) => void;

  constructor(directory: string, names: string[], giveBack: (names: string[]) => void) {
    this.#directory = directory;
    this.#names = names;
    this.#giveBack = giveBack;
  }

  /** A command writes, this process reads. */
  fromCommand(): Pipe {
    return this.#open(O_RDONLY, O_WRONLY);
  }

  /** This process writes, a command reads. */
  toCommand(): Pipe {
    return this.#open(O_WRONLY, O_RDONLY);
  }

  /** A command writes, and is not ended by it when this process is not there any more to read. */
  enduring(): Pipe {
    return this.#open(O_RDONLY, O_RDWR);
  }

  [Symbol.dispose](): void {
    this.#giveBack(this.#names.splice(0));
  }

  #open(nearFlags: number, farFlags: number): Pipe {
    const name = this.#names.pop();
    if (name === undefined) throw new Error('there is no pipe left');
    const path = `${this.#directory}/${name}`;
    // As long as both ends are open, opening one of them waits for nobody.
    const both = openSync(path, O_RDWR);
    let near: number | undefined;
    try {
      near = openSync(path, nearFlags | O_NONBLOCK);
      return { near, far: openSync(path, farFlags) };
    } catch (error) {
      if (near !== undefined) closeSync(near);
      throw error;
    } finally {
      closeSync(both);
      unlinkSync(path);
    }
  }
}
