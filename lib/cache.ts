import type { Clock } from './clock.ts';
import { LruCache } from './lru.ts';

/**
 * A cache of reads with a maximum age. The age of an entry counts from the start of its load, so a value is never
 * older than `maxAgeMs`. When the cache is full, the least recently used entry is evicted. `drop` also discards a load that is in progress.
 */
interface Cache<Value> {
  /** `load` gets the time from which the age counts, in milliseconds since the epoch. */
  get(key: string, load: (startedAt: number) => Promise<Value>): Promise<Value>;
  drop(key: string): void;
  clear(): void;
}

interface Entry<Value> {
  value: Promise<Value>;
  loadStartedAt: number;
}

export function createCache<Value>(clock: Clock, maxAgeMs: number, maxEntries = 10_000): Cache<Value> {
  const entries = new LruCache<string, Entry<Value>>(maxEntries);

  return {
    get(key, load) {
      const now = clock.now().getTime();
      const cached = entries.get(key);
      // When the clock was set back, the age of the entry is unknown and it is loaded again.
      const age = cached ? now - cached.loadStartedAt : maxAgeMs;
      if (cached && age >= 0 && age < maxAgeMs) return cached.value;
      const entry: Entry<Value> = { value: load(now), loadStartedAt: now };
      entries.set(key, entry);
      entry.value.catch(() => {
        if (entries.peek(key) === entry) entries.delete(key);
      });
      return entry.value;
    },
    drop: (key) => void entries.delete(key),
    clear: () => entries.clear(),
  };
}
