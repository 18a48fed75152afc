import { type FieldProblem, refuse } from '../../../lib/errors.ts';
import { isStorable } from '../../../lib/text.ts';

/** Nobody mends more at a time, and a refusal travels in a trailer, which has to stay small. */
const SHOWN = 20;

/** Collects everything that is wrong with a request, so that it is refused once and for all of it. */
export class Problems {
  readonly #found: FieldProblem[] = [];
  #onlyText = true;

  /** The pointer is that of the public request body. */
  add(pointer: string, message: string): void {
    this.#onlyText = false;
    this.#found.push({ pointer, message });
  }

  /** Reports text that cannot be stored; whether it can. */
  storable(pointer: string, text: string): boolean {
    if (isStorable(text)) return true;
    this.#found.push({ pointer, message: 'holds a NUL character or a lone surrogate' });
    return false;
  }

  /** Reports a number of characters (code points) that is out of range. */
  characters(pointer: string, text: string, min: number, max: number): void {
    if (!this.storable(pointer, text)) return;
    const count = text.length <= max ? text.length : [...text].length;
    if (count < min || count > max) {
      this.add(
        pointer,
        min === 0 ? `must be at most ${max} characters long` : `must be ${min}–${max} characters long`,
      );
    }
  }

  range(pointer: string, value: number, min: number, max: number): void {
    if (!Number.isInteger(value) || value < min || value > max) {
      this.add(pointer, `must be a whole number from ${min} to ${max}`);
    }
  }

  oneOf(pointer: string, value: string, allowed: readonly string[]): void {
    if (!allowed.includes(value)) this.add(pointer, `must be one of ${allowed.join(', ')}`);
  }

  /** Throws INVALID_REQUEST when anything was reported, or INVALID_TEXT when it was nothing but unstorable text. */
  settle(): void {
    const [first] = this.#found;
    if (!first) return;
    const others = this.#found.length > 1 ? ` (and ${this.#found.length - 1} more)` : '';
    throw refuse(
      this.#onlyText ? 'INVALID_TEXT' : 'INVALID_REQUEST',
      `${first.pointer} ${first.message}${others}`,
      { details: this.#found.slice(0, SHOWN) },
    );
  }
}

/** One step of a JSON Pointer (RFC 6901). */
export function step(name: string | number): string {
  return `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
