/** The label value that stands for all values beyond a limit. */
export const OTHER = 'other';

/** Longer values are cut. Some values, such as the names of models and tools, come from users. */
const MAX_CHARACTERS = 80;

/**
 * Limits the label values of a metric, because each new combination of values is a new series. The first `max`
 * combinations keep their values. Later ones share series with fewer values.
 */
export class LabelSets {
  readonly #max: number;
  readonly #admitted = new Set<string>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Returns `exact` if this combination is within the limit, else the result of `general`. Values are cut to 80 characters. */
  choose(exact: readonly string[], general: () => string[]): string[] {
    const values = exact.map(shortened);
    return this.#admit(values.join('\n')) ? values : general();
  }

  #admit(key: string): boolean {
    if (this.#admitted.has(key)) return true;
    if (this.#admitted.size >= this.#max) return false;
    this.#admitted.add(key);
    return true;
  }
}

function shortened(value: string): string {
  return value.length > MAX_CHARACTERS ? `${value.slice(0, MAX_CHARACTERS).toWellFormed()}…` : value;
}
