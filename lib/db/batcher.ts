import { ERRORS, Refusal } from '../errors.ts';
import type { Span } from '../telemetry/tracer.ts';
import type { Trace } from '../trace.ts';
import type { WriteOptions } from './database.ts';
import { failureOf, type SchemaObserver } from './observer.ts';

interface BatcherOptions<Item, Result> {
  /** The name in traces and metrics. */
  name: string;
  observer: SchemaObserver;
  /** Processes all items in one transaction. Returns the result of each item at its index. `options` are for the statements. */
  run(items: Item[], options: WriteOptions): Promise<(Result | Refusal)[]>;
  /** Returns the bytes that an item counts for. */
  sizeOf(item: Item): number;
  /** Items with the same key are never in the same batch. Without it, all items can share a batch. */
  keyOf?(item: Item): string;
  maxItems: number;
  maxBytes: number;
}

/** When a batch runs longer than this, a second batch starts in parallel. */
const SECOND_WRITER_DELAY_MS = 10;
const MAX_WRITERS = 2;

interface QueuedItem<Item, Result> {
  item: Item;
  /** Covers the item from submission to result, in the trace of its caller. */
  span: Span | undefined;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Group commit: items that are submitted while a batch runs form the next batch and share its commit. No item waits for
 * others when no batch runs. Each caller gets its own result. A failed batch is split in half until the failing item is
 * alone.
 *
 * One writer makes the largest batches, which cost the least. A second writer starts only when the first is delayed.
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>) {
  const { name, observer } = options;
  const sizes = observer.group(name, () => queue.length);
  let queue: QueuedItem<Item, Result>[] = [];
  let running = 0;
  let scheduled = false;
  let secondWriterTimer: NodeJS.Timeout | undefined;

  function schedule(): void {
    if (scheduled || queue.length === 0) return;
    if (running === 0) {
      scheduled = true;
      // After this turn of the event loop has read all pending requests.
      setImmediate(startBatch);
    } else if (running < MAX_WRITERS) {
      secondWriterTimer ??= setTimeout(startBatch, SECOND_WRITER_DELAY_MS);
    }
  }

  function startBatch(): void {
    scheduled = false;
    clearTimeout(secondWriterTimer);
    secondWriterTimer = undefined;
    if (queue.length > 0) void write(takeBatch());
    schedule();
  }

  function takeBatch(): QueuedItem<Item, Result>[] {
    const taken: QueuedItem<Item, Result>[] = [];
    const left: QueuedItem<Item, Result>[] = [];
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

  async function write(members: QueuedItem<Item, Result>[]): Promise<void> {
    running++;
    const answers = await runBatch(members);
    running--;
    const deliver = () => {
      for (const answer of answers) answer();
    };
    if (running === 0 && queue.length > 0) {
      // Start the next batch before the callers resume, because their work keeps this process busy.
      startBatch();
      setImmediate(deliver);
    } else {
      deliver();
      schedule();
    }
  }

  /** Runs a batch. Returns one callback for each item that delivers its result. */
  async function runBatch(members: QueuedItem<Item, Result>[]): Promise<(() => void)[]> {
    sizes.observe(members.length);
    const shared = observer.beginShared(`${name} batch`, tracesOf(members));
    for (const { span } of members) describe(span, shared, members.length);
    shared?.set({ 'db.operation.batch.size': members.length });
    try {
      const outcomes = await options.run(
        members.map((member) => member.item),
        { trace: shared?.trace },
      );
      shared?.end();
      return members.map((member, index) => () => answer(member, outcomes[index] as Result | Refusal));
    } catch (error) {
      shared?.end(failureOf(error));
      // An unavailable or full database is not caused by a single item, so splitting would not help.
      const isShared = error instanceof Refusal && ERRORS[error.code].category === 'dependency';
      if (members.length === 1 || isShared) return members.map((member) => () => fail(member, error));
      const middle = members.length >> 1;
      return [...(await runBatch(members.slice(0, middle))), ...(await runBatch(members.slice(middle)))];
    }
  }

  function answer(member: QueuedItem<Item, Result>, outcome: Result | Refusal): void {
    if (outcome instanceof Refusal) {
      fail(member, outcome);
    } else {
      member.span?.end();
      member.resolve(outcome);
    }
  }

  function fail(member: QueuedItem<Item, Result>, error: unknown): void {
    member.span?.end(failureOf(error));
    member.reject(error);
  }

  return {
    /** Queues an item and resolves with its result. `by.trace` is the trace of the caller. */
    submit(item: Item, by: WriteOptions = {}): Promise<Result> {
      return new Promise((resolve, reject) => {
        queue.push({ item, span: observer.begin(name, by.trace), resolve, reject });
        schedule();
      });
    },
    /** The number of items that are not in a batch yet. */
    get waiting() {
      return queue.length;
    },
  };
}

function tracesOf(members: readonly { span: Span | undefined }[]): Trace[] {
  return members.flatMap(({ span }) => (span ? [span.trace] : []));
}

/** Links the span of an item to the span of its batch, which has a separate trace. */
function describe(span: Span | undefined, shared: Span | undefined, size: number): void {
  if (!span || !shared || span.silent) return;
  span.link(shared.trace);
  span.set({ 'db.operation.batch.size': size });
}
