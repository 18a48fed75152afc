import { ERRORS, Refusal } from '../errors.ts';

export interface GroupOptions<Item, Result> {
  /** Carries out all items in one go; the outcome of each stands at its place. */
  run(items: Item[]): Promise<(Result | Refusal)[]>;
  /** Bytes an item counts for. */
  sizeOf(item: Item): number;
  /** Items with the same key never share a run; absent: any may. */
  keyOf?(item: Item): string;
  maxItems: number;
  maxBytes: number;
  /** Runs at the same time, at most. */
  writers: number;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Many callers, one statement: what arrives while a writer is busy goes out together with the next
 * one, so that a commit is shared and nobody waits for company. Each caller gets a result of its own;
 * when a run fails it is halved until the member at fault stands alone.
 */
export function createGroup<Item, Result>(options: GroupOptions<Item, Result>) {
  let queue: Waiting<Item, Result>[] = [];
  let busy = 0;
  let scheduled = false;

  function schedule(): void {
    if (scheduled || busy >= options.writers || queue.length === 0) return;
    scheduled = true;
    // After this turn of the event loop has read all the requests that are there.
    setImmediate(() => {
      scheduled = false;
      while (busy < options.writers && queue.length > 0) void write(take());
    });
  }

  function take(): Waiting<Item, Result>[] {
    const taken: Waiting<Item, Result>[] = [];
    const left: Waiting<Item, Result>[] = [];
    const keys = new Set<string>();
    let bytes = 0;
    for (const waiting of queue) {
      const size = options.sizeOf(waiting.item);
      const key = options.keyOf?.(waiting.item);
      const full = taken.length >= options.maxItems || (taken.length > 0 && bytes + size > options.maxBytes);
      if (full || (key !== undefined && keys.has(key))) {
        left.push(waiting);
        continue;
      }
      if (key !== undefined) keys.add(key);
      bytes += size;
      taken.push(waiting);
    }
    queue = left;
    return taken;
  }

  async function write(members: Waiting<Item, Result>[]): Promise<void> {
    busy++;
    await settle(members);
    busy--;
    schedule();
  }

  async function settle(members: Waiting<Item, Result>[]): Promise<void> {
    try {
      const outcomes = await options.run(members.map((member) => member.item));
      members.forEach((member, index) => {
        const outcome = outcomes[index];
        if (outcome instanceof Refusal) member.reject(outcome);
        else member.resolve(outcome as Result);
      });
    } catch (error) {
      // A database that is away or full is nobody's fault in particular.
      const shared = error instanceof Refusal && ERRORS[error.code].category === 'dependency';
      if (members.length === 1 || shared) {
        for (const member of members) member.reject(error);
        return;
      }
      const middle = members.length >> 1;
      await settle(members.slice(0, middle));
      await settle(members.slice(middle));
    }
  }

  return {
    submit(item: Item): Promise<Result> {
      return new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject });
        schedule();
      });
    },
    /** Items that no run has taken yet. */
    get waiting() {
      return queue.length;
    },
  };
}
