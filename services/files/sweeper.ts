import type { Blobs } from '../../lib/blobs/blobs.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { startRounds } from '../../lib/rounds.ts';
import { eachOf } from './each.ts';
import type { Garbage } from './store/garbage.ts';
import type { History } from './store/history.ts';

export interface SweeperContext {
  garbage: Garbage;
  history: History;
  blobs: Blobs;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  graceMs: number;
  historyMs: number;
}

const TICK_MS = 10_000;
/** What belongs to nothing is looked for in the whole store. */
const STRAYS_EVERY_MS = 6 * 60 * 60 * 1_000;
const BATCH = 500;
const AT_ONCE = 8;

/**
 * Removes what nobody needs: old versions, deleted workspaces, contents without entries, objects without contents.
 * Every replica sweeps; they do not get into each other's way.
 */
export function startSweeper(context: SweeperContext) {
  const { garbage, history, blobs, clock, log, metrics, graceMs, historyMs } = context;
  const removed = metrics.counter({
    name: 'ahs_files_removed_objects_total',
    help: 'Objects that were deleted because nothing needed them.',
    labels: ['why'],
  });
  let straysAt = clock.now().getTime() + STRAYS_EVERY_MS;
  const rounds = startRounds({
    clock,
    everyMs: TICK_MS,
    work: sweep,
    onFailure: (error) => log.warn({ err: error }, 'a sweep failed and is repeated until it succeeds'),
  });

  const ago = (ms: number) => new Date(clock.now().getTime() - ms);

  async function sweep(signal: AbortSignal): Promise<void> {
    const whileMore = async (work: () => Promise<boolean>) => {
      while (!signal.aborted && (await work()));
    };
    await whileMore(() => history.forget(ago(historyMs)));
    await whileMore(() => history.trim(clock.now()));
    await whileMore(() => history.purge(ago(graceMs), clock.now()));
    await whileMore(async () => (await garbage.check(clock.now(), graceMs)) > 0);
    await whileMore(deleteObjects);
    if (clock.now().getTime() < straysAt) return;
    await removeStrays(signal);
    straysAt = clock.now().getTime() + STRAYS_EVERY_MS;
  }

  async function deleteObjects(): Promise<boolean> {
    const going = await garbage.toDelete();
    await eachOf(going, AT_ONCE, ({ objectKey }) => blobs.delete(objectKey));
    if (going.length > 0) await garbage.deleted(going.map(({ contentId }) => contentId));
    removed.labels('unneeded').inc(going.length);
    return going.length > 0;
  }

  /** What a process left behind that ended between writing an object and saying whose it is. */
  async function removeStrays(signal: AbortSignal): Promise<void> {
    const before = ago(graceMs);
    let strays = 0;
    let keys: string[] = [];
    const look = async () => {
      const inUse = await garbage.inUse(keys);
      const going = keys.filter((key) => !inUse.has(key));
      keys = [];
      await eachOf(going, AT_ONCE, (key) => blobs.delete(key));
      strays += going.length;
    };
    for await (const { key, writtenAt } of blobs.list()) {
      if (signal.aborted) return;
      if (writtenAt < before) keys.push(key);
      if (keys.length === BATCH) await look();
    }
    if (keys.length > 0) await look();
    const unfinished = await blobs.tidy(before);
    removed.labels('stray').inc(strays);
    if (strays + unfinished > 0)
      log.info({ strays, unfinished }, 'objects were removed that belonged to nothing');
  }

  return rounds;
}
