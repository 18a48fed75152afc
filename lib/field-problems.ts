import type { ErrorCode } from './error-codes.ts';
import { type FieldProblem, refuse } from './errors.ts';
import { isStorable } from './text.ts';

/** Limits the details of a refusal, which travel in a gRPC trailer. */
const MAX_DETAILS = 20;

const MAX_METADATA = 50;
const MAX_METADATA_NAME = 64;
const MAX_METADATA_VALUE = 500;

/** Collects all problems of a request, so that one refusal reports all of them. */
export class FieldProblems {
  readonly #found: FieldProblem[] = [];
  #onlyText = true;

  /** `pointer` is a JSON Pointer into the body of the public request. */
  add(pointer: string, message: string): void {
    this.#onlyText = false;
    this.#found.push({ pointer, message });
  }

  /** Reports text that cannot be stored. Returns whether it can be stored. */
  storable(pointer: string, text: string): boolean {
    if (isStorable(text)) return true;
    this.#found.push({ pointer, message: 'must not contain a NUL character or a lone surrogate' });
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

  metadata(metadata: Readonly<Record<string, string>>): void {
    const entries = Object.entries(metadata);
    if (entries.length > MAX_METADATA) {
      this.add('/metadata', `must have at most ${MAX_METADATA} members`);
      return;
    }
    for (const [name, value] of entries) {
      if (!this.storable('/metadata', name)) continue;
      if (name === '' || [...name].length > MAX_METADATA_NAME) {
        this.add('/metadata', `must have names of 1–${MAX_METADATA_NAME} characters`);
        continue;
      }
      this.characters(`/metadata${pointerSegment(name)}`, value, 0, MAX_METADATA_VALUE);
    }
  }

  /** Throws a refusal with this code if there are problems, or INVALID_TEXT if all of them are text that cannot be stored. */
  throwIfAny(code: ErrorCode = 'INVALID_REQUEST'): void {
    const [first] = this.#found;
    if (!first) return;
    const others = this.#found.length > 1 ? ` (and ${this.#found.length - 1} more)` : '';
    throw refuse(this.#onlyText ? 'INVALID_TEXT' : code, `${first.pointer} ${first.message}${others}`, {
      details: this.#found.slice(0, MAX_DETAILS),
    });
  }
}

/** One escaped segment of a JSON Pointer (RFC 6901), with its slash. */
export function pointerSegment(name: string | number): string {
  return `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
