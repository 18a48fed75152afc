/** The decision about the next item of an owner. */
type Choice = 'take' | 'skip' | 'stop';

interface OwnerQueue<Item> {
  items: Item[];
  /** Since when the owner waits for its turn, in milliseconds since the epoch. */
  turnSince: number;
}

/**
 * The items that wait for a batch, in a queue for each owner. Owners take turns, so that the items of one owner wait for
 * at most one item of each other owner at a time.
 */
export class WaitingItems<Item> {
  /** In the order of their turns. No queue is empty. */
  readonly #queues = new Map<string, OwnerQueue<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns the item of the owner that has waited longest. */
  oldest(owner: string): Item | undefined {
    return this.#queues.get(owner)?.items[0];
  }

  /** Returns since when the next owner waits for its turn. A further owner will wait for about as long. */
  get turnSince(): number | undefined {
    for (const { turnSince } of this.#queues.values()) return turnSince;
    return undefined;
  }

  add(owner: string, item: Item, now: number): void {
    const queue = this.#queues.get(owner);
    if (queue) queue.items.push(item);
    else this.#queues.set(owner, { items: [item], turnSince: now });
    this.#size++;
  }

  /** Offers items to `choose` until it stops. Removes the taken items. Skipped items keep their order. */
  take(choose: (item: Item) => Choice, now: number): void {
    const skipped = new Map<string, Item[]>();
    for (;;) {
      const [next] = this.#queues;
      if (!next) break;
      const [owner, { items }] = next;
      const ofOwner = skipped.get(owner) ?? [];
      const choice = offer(items, choose, ofOwner);
      if (ofOwner.length > 0) skipped.set(owner, ofOwner);
      if (choice === 'stop') break;
      this.#queues.delete(owner);
      if (choice === 'take') {
        this.#size--;
        if (items.length > 0) this.#queues.set(owner, { items, turnSince: now });
      }
    }
    for (const [owner, items] of skipped) {
      const { items: later, turnSince } = this.#queues.get(owner) ?? { items: [], turnSince: now };
      this.#queues.set(owner, { items: [...items, ...later], turnSince });
    }
  }
}

/** Offers items in order until one is taken or `choose` stops. Moves all items before that one to `skipped`. */
function offer<Item>(items: Item[], choose: (item: Item) => Choice, skipped: Item[]): Choice {
  for (let item = items[0]; item !== undefined; item = items[0]) {
    const choice = choose(item);
    if (choice === 'stop') return choice;
    items.shift();
    if (choice === 'take') return choice;
    skipped.push(item);
  }
  return 'skip';
}
