import type { Clock } from '../../../lib/clock.ts';
import { LruCache } from '../../../lib/lru.ts';
import type { DataKey } from './data-key.ts';

const MAX_AGE_MS = 5 * 60_000;
const MAX_KEYS = 1_000;

interface Entry {
  key: Promise<DataKey>;
  /** The uses that wait for the key or have it. */
  uses: number;
  isDropped: boolean;
  cancelExpiry: () => void;
}

/**
 * Keeps data keys for at most 5 minutes from the start of their load, at most 1,000. A dropped key is overwritten with zeros
 * after its last use. Concurrent uses of one key share its load.
 */
export class DataKeyCache {
  readonly #clock: Clock;
  readonly #entries = new LruCache<string, Entry>(MAX_KEYS, (entry) => dropEntry(entry));

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `work` with the key, which is not valid afterwards. Rejects with the error of `load`. */
  async use<Result>(
    id: string,
    load: () => Promise<DataKey>,
    work: (key: DataKey) => Result,
  ): Promise<Result> {
    const entry = this.#entries.get(id) ?? this.#add(id, load());
    entry.uses++;
    try {
      return work(await entry.key);
    } finally {
      entry.uses--;
      destroyIfUnused(entry);
    }
  }

  /** Drops all keys. */
  clear(): void {
    for (const entry of this.#entries.values()) dropEntry(entry);
    this.#entries.clear();
  }

  #add(id: string, key: Promise<DataKey>): Entry {
    const remove = () => {
      if (this.#entries.peek(id) === entry) this.#entries.delete(id);
      dropEntry(entry);
    };
    const cancelExpiry = this.#clock.after(MAX_AGE_MS, remove);
    const entry: Entry = { key, uses: 0, isDropped: false, cancelExpiry };
    key.catch(remove);
    this.#entries.set(id, entry);
    return entry;
  }
}

function dropEntry(entry: Entry): void {
  entry.isDropped = true;
  entry.cancelExpiry();
  destroyIfUnused(entry);
}

/** A key that is still loading is destroyed when it arrives. */
function destroyIfUnused({ isDropped, uses, key }: Entry): void {
  if (!isDropped || uses > 0) return;
  key.then(
    (loaded) => loaded.destroy(),
    () => {},
  );
}
