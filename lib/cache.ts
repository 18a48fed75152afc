import type { Clock } from './clock.ts';

/**
 * Reads kept for a short while. An entry counts its age from the moment its load began, so it is
 * never older than `maxAgeMs`; a load that began before a `drop` is not kept.
 */
export interface Cache<Value> {
  get(key: string, load: () => Promise<Value>): Promise<Value>;
  drop(key: string): void;
  clear(): void;
}

interface Entry<Value> {
  value: Promise<Value>;
  bornAt: number;
}

export function createCache<Value>(clock: Clock, maxAgeMs: number, maxEntries = 10_000): Cache<Value> {
  const entries = new Map<string, Entry<Value>>();

  return {
    get(key, load) {
      const now = clock.now().getTime();
      const known = entries.get(key);
      // Of a clock that was set back nobody knows how long ago the load was.
      const age = known ? now - known.bornAt : maxAgeMs;
      if (known && age >= 0 && age < maxAgeMs) return known.value;
      const entry: Entry<Value> = { value: load(), bornAt: now };
      if (entries.size >= maxEntries) entries.clear();
      entries.set(key, entry);
      entry.value.catch(() => {
        if (entries.get(key) === entry) entries.delete(key);
      });
      return entry.value;
    },
    drop: (key) => void entries.delete(key),
    clear: () => entries.clear(),
  };
}
