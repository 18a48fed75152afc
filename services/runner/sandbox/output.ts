import type { Command } from './sandbox.ts';

/** Hands on what a command prints, until it is more than it may. */
export class Output {
  readonly #command: Pick<Command, 'output' | 'maxOutputBytes'>;
  #left: number;

  constructor(command: Pick<Command, 'output' | 'maxOutputBytes'>) {
    this.#command = command;
    this.#left = command.maxOutputBytes;
  }

  /** False when that was too much: what is above the limit is not handed on. */
  take(bytes: Uint8Array, stream: 'stdout' | 'stderr'): boolean {
    const fits = bytes.length <= this.#left;
    const part = fits ? bytes : bytes.subarray(0, this.#left);
    this.#left -= part.length;
    if (part.length > 0) this.#command.output(part, stream);
    return fits;
  }
}
