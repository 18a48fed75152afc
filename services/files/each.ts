/** Works on all items, on so many at once. Fails with the first failure, when nothing is under way any more. */
export async function eachOf<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  let failed = false;
  const worker = async () => {
    for (const item of left) {
      if (failed) return;
      await work(item).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  };
  const workers = Array.from({ length: Math.min(atOnce, items.length) }, worker);
  const outcomes = await Promise.allSettled(workers);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** The same in order, where each gives something: `atOnce` are under way while the first of them is waited for. */
export async function* ahead<Item, Result>(
  items: Iterable<Item>,
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<[Item, Result]> {
  const waiting: [Item, Promise<Result>][] = [];
  const begin = (item: Item) => {
    const result = work(item);
    // Whoever leaves early does not hear of the others.
    result.catch(() => {});
    waiting.push([item, result]);
  };
  for (const item of items) {
    begin(item);
    const first = waiting.length >= atOnce ? waiting.shift() : undefined;
    if (first) yield [first[0], await first[1]];
  }
  for (const [item, result] of waiting) yield [item, await result];
}
