interface BatchOptions {
  /** Maximum number of keys of one request. */
  maxKeys: number;
  /** How long keys are collected before they are requested, in milliseconds. */
  delayMs: number;
}

interface Waiting<Value> {
  resolve: (value: Value | undefined) => void;
  reject: (error: unknown) => void;
}

/**
 * Returns a function that loads the value of a key. Keys that are requested within `delayMs` are loaded together. The value
 * of a key that `load` does not return is undefined.
 */
export function createBatch<Value>(
  load: (keys: string[]) => Promise<ReadonlyMap<string, Value>>,
  { maxKeys, delayMs }: BatchOptions,
): (key: string) => Promise<Value | undefined> {
  let waiting = new Map<string, Waiting<Value>[]>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const batch = waiting;
    waiting = new Map();
    try {
      const values = await load([...batch.keys()]);
      for (const [key, callers] of batch) for (const { resolve } of callers) resolve(values.get(key));
    } catch (error) {
      for (const { reject } of [...batch.values()].flat()) reject(error);
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.set(key, [...(waiting.get(key) ?? []), { resolve, reject }]);
      if (waiting.size >= maxKeys) void flush();
      else timer ??= setTimeout(() => void flush(), delayMs);
    });
}
