/** Runs `work` for all items, at most `limit` at once. Rejects with the first failure after all running work has ended. */
export async function forEachConcurrently<Item>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const remaining = items.values();
  let failed = false;
  const worker = async () => {
    for (const item of remaining) {
      if (failed) return;
      await work(item).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  };
  const workers = Array.from({ length: Math.min(limit, items.length) }, worker);
  const outcomes = await Promise.allSettled(workers);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Yields each item with its result, in order. Up to `limit` items are processed ahead of the one that is awaited. */
export async function* mapWithLookahead<Item, Result>(
  items: Iterable<Item>,
  limit: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<[Item, Result]> {
  const started: [Item, Promise<Result>][] = [];
  const start = (item: Item) => {
    const result = work(item);
    // A consumer that stops early does not await the remaining results.
    result.catch(() => {});
    started.push([item, result]);
  };
  for (const item of items) {
    start(item);
    const first = started.length >= limit ? started.shift() : undefined;
    if (first) yield [first[0], await first[1]];
  }
  for (const [item, result] of started) yield [item, await result];
}
