import { type Clock, systemClock } from '../clock.ts';
import { ERRORS } from '../error-codes.ts';
import { Refusal, refuse } from '../errors.ts';
import { overloaded } from '../overload.ts';
import type { Span } from '../telemetry/tracer.ts';
import type { Trace } from '../trace.ts';
import type { WriteOptions } from './database.ts';
import { failureOf, type SchemaObserver } from './observer.ts';
import { WaitingItems } from './waiting-items.ts';

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
  /** Owners take turns. A long queue of one owner delays no other owner and refuses none. */
  ownerOf?(item: Item): string;
  maxItems: number;
  maxBytes: number;
  /** False when the number of callers is bounded and none may be refused. */
  isBounded?: boolean;
  clock?: Clock;
}

/** A handler's `Call` is assignable. */
export interface SubmitOptions extends WriteOptions {
  /** An item whose caller has left, or whose deadline has passed, before its batch starts is dropped. */
  signal?: AbortSignal | undefined;
}

/** Beyond these bounds of the waiting items, further ones are refused (ADR 42). */
const MAX_WAITING_ITEMS = 10_000;
const MAX_WAITING_BYTES = 256 * 1024 * 1024;
/**
 * Items are refused while an older item of the same owner has waited for this long, or the next owner has waited for its
 * turn for this long.
 */
const MAX_WAIT_MS = 1_000;

/** When a batch runs longer than this, a second batch starts in parallel. */
const SECOND_WRITER_DELAY_MS = 10;
const MAX_WRITERS = 2;

interface QueuedItem<Item, Result> {
  item: Item;
  bytes: number;
  signal: AbortSignal | undefined;
  /** Milliseconds since the epoch. */
  submittedAt: number;
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
  const { name, observer, clock = systemClock, isBounded = true } = options;
  const queue = new WaitingItems<QueuedItem<Item, Result>>();
  const { sizes, refusals } = observer.group(name, () => queue.size);
  let waitingBytes = 0;
  let running = 0;
  let scheduled = false;
  let secondWriterTimer: NodeJS.Timeout | undefined;

  function schedule(): void {
    if (scheduled || queue.size === 0) return;
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
    const members = takeBatch();
    if (members.length > 0) void write(members);
    schedule();
  }

  function takeBatch(): QueuedItem<Item, Result>[] {
    const taken: QueuedItem<Item, Result>[] = [];
    const dropped: QueuedItem<Item, Result>[] = [];
    const keys = new Set<string>();
    let bytes = 0;
    queue.take((waiting) => {
      if (waiting.signal?.aborted) {
        dropped.push(waiting);
        return 'take';
      }
      const isFull = taken.length >= options.maxItems || bytes + waiting.bytes > options.maxBytes;
      if (isFull && taken.length > 0) return 'stop';
      const key = options.keyOf?.(waiting.item);
      if (key !== undefined) {
        if (keys.has(key)) return 'skip';
        keys.add(key);
      }
      bytes += waiting.bytes;
      taken.push(waiting);
      return 'take';
    }, clock.now().getTime());
    for (const item of [...taken, ...dropped]) waitingBytes -= item.bytes;
    for (const item of dropped) fail(item, cancelled());
    return taken;
  }

  async function write(members: QueuedItem<Item, Result>[]): Promise<void> {
    running++;
    const answers = await runBatch(members);
    running--;
    const deliver = () => {
      for (const answer of answers) answer();
    };
    if (running === 0 && queue.size > 0) {
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

  /** Whether too much waits for one more item of this owner. */
  function isFull(owner: string, bytes: number, now: number): boolean {
    if (queue.size === 0) return false;
    if (queue.size >= MAX_WAITING_ITEMS || waitingBytes + bytes > MAX_WAITING_BYTES) return true;
    const { submittedAt = now } = queue.oldest(owner) ?? {};
    const { turnSince = now } = queue;
    return now - Math.min(submittedAt, turnSince) >= MAX_WAIT_MS;
  }

  function submit(item: Item, by: SubmitOptions, mayRefuse: boolean): Promise<Result> {
    const owner = options.ownerOf?.(item) ?? '';
    const bytes = options.sizeOf(item);
    const submittedAt = clock.now().getTime();
    if (mayRefuse && isFull(owner, bytes, submittedAt)) {
      refusals.inc();
      return Promise.reject(overloaded('The service has more work than it can do now. Try again later.'));
    }
    return new Promise((resolve, reject) => {
      const span = observer.begin(name, by.trace);
      queue.add(owner, { item, bytes, signal: by.signal, submittedAt, span, resolve, reject }, submittedAt);
      waitingBytes += bytes;
      schedule();
    });
  }

  return {
    /**
     * Queues an item and resolves with its result. `by.trace` is the trace of the caller. Rejects with
     * DEPENDENCY_UNAVAILABLE when too many items wait, and with CANCELLED when the caller leaves before the batch starts.
     */
    submit: (item: Item, by: SubmitOptions = {}): Promise<Result> => submit(item, by, isBounded),
    /** Queues an item that is never refused, for callers whose number is bounded. */
    submitAlways: (item: Item, by: SubmitOptions = {}): Promise<Result> => submit(item, by, false),
    /** The number of items that are not in a batch yet. */
    get waiting() {
      return queue.size;
    },
  };
}

function cancelled(): Refusal {
  return refuse('CANCELLED', 'The caller disconnected before the response.');
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
