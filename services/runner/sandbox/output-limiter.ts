import type { Command } from './sandbox.ts';

/** Forwards the output of a command up to its limit. */
export class OutputLimiter {
  readonly #command: Pick<Command, 'output' | 'maxOutputBytes'>;
  #remainingBytes: number;

  constructor(command: Pick<Command, 'output' | 'maxOutputBytes'>) {
    this.#command = command;
    this.#remainingBytes = command.maxOutputBytes;
  }

  /** Returns false when the output exceeds the limit. The bytes above the limit are dropped. */
  forward(bytes: Uint8Array, stream: 'stdout' | 'stderr'): boolean {
    const fits = bytes.length <= this.#remainingBytes;
    const part = fits ? bytes : bytes.subarray(0, this.#remainingBytes);
    this.#remainingBytes -= part.length;
    if (part.length > 0) this.#command.output(part, stream);
    return fits;
  }
}
