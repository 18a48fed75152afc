import { DeltaBuffer } from './delta-buffer.ts';

/** Limit of the reported progress of one tool call, in UTF-16 units. */
const MAX_CHARS = 256 * 1024;

/** The progress of running tools that is not reported yet, by tool use id. */
export class UnreportedProgress {
  readonly #calls = new Map<string, { buffer: DeltaBuffer; left: number }>();

  /** Adds text of a call; text over MAX_CHARS is dropped. Returns whether it is the first text of the call. */
  add(toolUseId: string, text: string, now: number): boolean {
    const known = this.#calls.get(toolUseId);
    const call = known ?? { buffer: new DeltaBuffer(), left: MAX_CHARS };
    this.#calls.set(toolUseId, call);
    call.buffer.add(text.slice(0, call.left), now);
    call.left -= Math.min(text.length, call.left);
    return known === undefined;
  }

  /** The calls whose text is due by this rule. */
  dueCalls(isDue: (text: DeltaBuffer) => boolean): string[] {
    return [...this.#calls].filter(([, { buffer }]) => isDue(buffer)).map(([id]) => id);
  }

  /** Removes and returns the next delta of a call; undefined when there is none. */
  cut(toolUseId: string, now: number): string | undefined {
    return this.#calls.get(toolUseId)?.buffer.cut(now);
  }

  /** The call has ended. */
  remove(toolUseId: string): void {
    this.#calls.delete(toolUseId);
  }

  clear(): void {
    this.#calls.clear();
  }
}
