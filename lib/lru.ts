interface Entry<Key, Value> {
  readonly key: Key;
  value: Value;
  /** The next less recently used entry. */
  older: Entry<Key, Value> | undefined;
  /** The next more recently used entry. */
  newer: Entry<Key, Value> | undefined;
}

/**
 * A map of at most `maxEntries` entries. A new entry beyond that evicts the least recently used one; `get` and `set`
 * count as use. Every operation takes constant time, and reading or replacing an entry allocates no memory.
 */
export class LruCache<Key, Value> {
  readonly #maxEntries: number;
  readonly #onEvict: ((value: Value) => void) | undefined;
  readonly #entries = new Map<Key, Entry<Key, Value>>();
  #newest: Entry<Key, Value> | undefined;
  #oldest: Entry<Key, Value> | undefined;

  /** `onEvict` is called with the value of an evicted entry, not with a deleted or replaced one. */
  constructor(maxEntries: number, onEvict?: (value: Value) => void) {
    if (!(maxEntries >= 1)) throw new RangeError(`an LRU cache cannot have ${maxEntries} entries`);
    this.#maxEntries = maxEntries;
    this.#onEvict = onEvict;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#use(entry);
    return entry.value;
  }

  /** Does not count as use. */
  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  /** Does not count as use. */
  peek(key: Key): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  set(key: Key, value: Value): void {
    const present = this.#entries.get(key);
    if (present) {
      present.value = value;
      this.#use(present);
      return;
    }
    if (this.#oldest && this.#entries.size >= this.#maxEntries) this.#evict(this.#oldest);
    const entry: Entry<Key, Value> = { key, value, older: undefined, newer: undefined };
    this.#entries.set(key, entry);
    this.#append(entry);
  }

  /** Does not count as use. */
  values(): Value[] {
    return Array.from(this.#entries.values(), ({ value }) => value);
  }

  delete(key: Key): boolean {
    const entry = this.#entries.get(key);
    if (!entry) return false;
    this.#entries.delete(key);
    this.#unlink(entry);
    return true;
  }

  clear(): void {
    this.#entries.clear();
    this.#newest = undefined;
    this.#oldest = undefined;
  }

  #evict({ key, value }: Entry<Key, Value>): void {
    this.delete(key);
    this.#onEvict?.(value);
  }

  #use(entry: Entry<Key, Value>): void {
    if (entry === this.#newest) return;
    this.#unlink(entry);
    this.#append(entry);
  }

  #append(entry: Entry<Key, Value>): void {
    entry.older = this.#newest;
    entry.newer = undefined;
    if (this.#newest) this.#newest.newer = entry;
    else this.#oldest = entry;
    this.#newest = entry;
  }

  #unlink({ older, newer }: Entry<Key, Value>): void {
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
  }
}
