import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** A young-generation collection runs after this many reported bytes. */
const THRESHOLD_BYTES = 16 * 1024 * 1024;

/** Growth of the heap after which V8 collects it during bulk work, in percent of the live objects. */
const BULK_GROWTH_PERCENT = 30;
/** Work on fewer objects runs under V8's own policy. */
const BULK_OBJECTS = 20_000;

type Collect = (options: { type: 'minor' | 'major' }) => void;

const doNothing: Collect = () => {};

let reported = 0;
let bulkWorks = 0;
let collect: Collect | undefined;

/**
 * Reports bytes of buffers that are no longer used, and runs a young-generation collection after every 16 MiB of them.
 * Without it, V8 collects the young generation only when small objects fill it, which takes long when nearly all memory
 * is buffer bytes outside the heap. V8 then sees 64 MiB of external memory and marks the whole heap, many times a
 * second. A young-generation collection frees the same buffers in less than a millisecond when few young objects are
 * live (one millisecond for 20,000 objects, three for 100,000).
 */
export function noteBufferBytes(bytes: number): void {
  reported += bytes;
  if (reported < THRESHOLD_BYTES) return;
  reported = 0;
  collect ??= loadCollector();
  collect({ type: 'minor' });
}

/**
 * Runs work on a number of objects. For 20,000 objects or more, V8 collects the heap each time it has grown by about a
 * third. Otherwise it waits until the heap has multiplied, and the process keeps that memory for a long time. The first
 * collection takes about 100 milliseconds at once, because V8 applies the policy only after it; the later ones are
 * incremental.
 */
export async function withSmallHeap<Result>(objects: number, work: () => Promise<Result>): Promise<Result> {
  if (objects < BULK_OBJECTS) return work();
  if (bulkWorks++ === 0) {
    setFlagsFromString(`--heap-growing-percent=${BULK_GROWTH_PERCENT}`);
    collect ??= loadCollector();
    collect({ type: 'major' });
  }
  try {
    return await work();
  } finally {
    // 0 is V8's own policy.
    if (--bulkWorks === 0) setFlagsFromString('--heap-growing-percent=0');
  }
}

/** Node defines `gc` only in contexts created while it is exposed (https://nodejs.org/api/cli.html#--expose-gc). */
function loadCollector(): Collect {
  setFlagsFromString('--expose-gc');
  const gc: Collect | undefined = runInNewContext('globalThis.gc');
  setFlagsFromString('--no-expose-gc');
  // Without `gc` the service works, with longer pauses.
  return gc ?? doNothing;
}
