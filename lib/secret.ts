import { inspect } from 'node:util';

const SHOWN = '[secret]';

/**
 * A secret text. Conversions to text, JSON and the output of `util.inspect` give `[secret]`, and a structured clone is
 * empty. Only the files that biome.json lists may call `reveal`.
 */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  /** The length in UTF-8. */
  get byteLength(): number {
    return Buffer.byteLength(this.#text);
  }

  toString(): string {
    return SHOWN;
  }

  toJSON(): string {
    return SHOWN;
  }

  [Symbol.toPrimitive](): string {
    return SHOWN;
  }

  [inspect.custom](): string {
    return SHOWN;
  }
}
