import { ERRORS, Refusal } from '../errors.ts';
import type { Span } from '../telemetry/tracer.ts';
import type { Trace } from '../trace.ts';
import type { WriteOptions } from './database.ts';
import { failureOf, type Watch } from './watch.ts';

export interface GroupOptions<Item, Result> {
  /** How it is called in traces and metrics. */
  name: string;
  watch: Watch;
  /** Carries out all items in one go; the outcome of each stands at its place. `options` are for the statements. */
  run(items: Item[], options: WriteOptions): Promise<(Result | Refusal)[]>;
  /** Bytes an item counts for. */
  sizeOf(item: Item): number;
  /** Items with the same key never share a run; absent: any may. */
  keyOf?(item: Item): string;
  maxItems: number;
  maxBytes: number;
}

/** A run that takes longer than this, in milliseconds, does not hold up the others: a second one begins beside it. */
const PATIENCE_MS = 10;
const WRITERS = 2;

interface Waiting<Item, Result> {
  item: Item;
  /** From its arrival to its result, in the trace of its caller. */
  span: Span | undefined;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Many callers, one statement: what arrives while the writer is busy goes out together with the next
 * one, so that a commit is shared and nobody waits for company. Each caller gets a result of its own;
 * when a run fails it is halved until the member at fault stands alone.
 *
 * One writer makes the largest groups, and those cost least; a second one helps out only when the first is held up.
 */
export function createGroup<Item, Result>(options: GroupOptions<Item, Result>) {
  const { name, watch } = options;
  const sizes = watch.group(name, () => queue.length);
  let queue: Waiting<Item, Result>[] = [];
  let busy = 0;
  let scheduled = false;
  let patience: NodeJS.Timeout | undefined;

  function schedule(): void {
    if (scheduled || queue.length === 0) return;
    if (busy === 0) {
      scheduled = true;
      // After this turn of the event loop has read all the requests that are there.
      setImmediate(begin);
    } else if (busy < WRITERS) {
      patience ??= setTimeout(begin, PATIENCE_MS);
    }
  }

  function begin(): void {
    scheduled = false;
    clearTimeout(patience);
    patience = undefined;
    if (queue.length > 0) void write(take());
    schedule();
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
    const answers = await settle(members);
    busy--;
    const give = () => {
      for (const answer of answers) answer();
    };
    if (busy === 0 && queue.length > 0) {
      // Callers that have their answers keep this process busy: the database is given its next work before.
      begin();
      setImmediate(give);
    } else {
      give();
      schedule();
    }
  }

  /** Carries out a run. Returns how each member is told. */
  async function settle(members: Waiting<Item, Result>[]): Promise<(() => void)[]> {
    sizes.observe(members.length);
    const shared = watch.beginShared(`${name} batch`, tracesOf(members));
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
      // A database that is away or full is nobody's fault in particular.
      const isShared = error instanceof Refusal && ERRORS[error.code].category === 'dependency';
      if (members.length === 1 || isShared) return members.map((member) => () => fail(member, error));
      const middle = members.length >> 1;
      return [...(await settle(members.slice(0, middle))), ...(await settle(members.slice(middle)))];
    }
  }

  function answer(member: Waiting<Item, Result>, outcome: Result | Refusal): void {
    if (outcome instanceof Refusal) {
      fail(member, outcome);
    } else {
      member.span?.end();
      member.resolve(outcome);
    }
  }

  function fail(member: Waiting<Item, Result>, error: unknown): void {
    member.span?.end(failureOf(error));
    member.reject(error);
  }

  return {
    /** `by.trace`: what the caller does it for. */
    submit(item: Item, by: WriteOptions = {}): Promise<Result> {
      return new Promise((resolve, reject) => {
        queue.push({ item, span: watch.begin(name, by.trace), resolve, reject });
        schedule();
      });
    },
    /** Items that no run has taken yet. */
    get waiting() {
      return queue.length;
    },
  };
}

function tracesOf(members: readonly { span: Span | undefined }[]): Trace[] {
  return members.flatMap(({ span }) => (span ? [span.trace] : []));
}

/** A member stands in its own trace, where the batch does not; each leads to the other. */
function describe(span: Span | undefined, shared: Span | undefined, size: number): void {
  if (!span || !shared || span.silent) return;
  span.link(shared.trace);
  span.set({ 'db.operation.batch.size': size });
}
