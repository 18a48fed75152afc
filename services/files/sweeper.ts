import type { Blobs } from '../../lib/blobs/blobs.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { startPeriodicTask } from '../../lib/periodic-task.ts';
import { forEachConcurrently } from './concurrency.ts';
import type { GarbageStore } from './store/garbage.ts';
import type { RetentionStore } from './store/retention.ts';
import type { Uploads } from './store/uploads.ts';

interface FileSweeperContext {
  garbage: GarbageStore;
  history: RetentionStore;
  uploads: Uploads;
  blobs: Blobs;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  graceMs: number;
  historyMs: number;
}

const TICK_MS = 10_000;
/** The interval between scans of the whole object store for objects that belong to no content. */
const ORPHAN_SCAN_INTERVAL_MS = 6 * 60 * 60 * 1_000;
const BATCH = 500;
const CONCURRENT_DELETES = 8;
/** Of one batch. The rest is left for a later sweep. */
const MAX_FAILED_DELETES = 16;

/**
 * Removes expired uploads and versions, deleted workspaces, contents without references and objects without contents. Every replica
 * runs a sweeper; they may run concurrently.
 */
export function startFileSweeper(context: FileSweeperContext) {
  const { garbage, history, uploads, blobs, clock, log, metrics, graceMs, historyMs } = context;
  const removed = metrics.counter({
    name: 'ahs_files_removed_objects_total',
    help: 'Objects that were deleted because nothing needed them.',
    labels: ['why'],
  });
  let nextOrphanScanAt = clock.now().getTime() + ORPHAN_SCAN_INTERVAL_MS;
  const task = startPeriodicTask({
    clock,
    everyMs: TICK_MS,
    work: sweep,
    onFailure: (error) => log.warn({ err: error }, 'a sweep failed and will be repeated'),
  });

  const ago = (ms: number) => new Date(clock.now().getTime() - ms);

  async function sweep(signal: AbortSignal): Promise<void> {
    const whileMore = async (work: () => Promise<boolean>) => {
      while (!signal.aborted && (await work()));
    };
    await whileMore(() => uploads.deleteExpired(clock.now()));
    await whileMore(() => history.expireVersions(ago(historyMs)));
    await whileMore(() => history.removeExpiredEntries(clock.now()));
    await whileMore(() => history.purgeDeletedWorkspaces(ago(graceMs), clock.now()));
    await whileMore(async () => (await garbage.checkContents(clock.now(), graceMs)) > 0);
    await whileMore(deleteObjects);
    if (clock.now().getTime() < nextOrphanScanAt) return;
    await removeOrphans(signal);
    nextOrphanScanAt = clock.now().getTime() + ORPHAN_SCAN_INTERVAL_MS;
  }

  async function deleteObjects(): Promise<boolean> {
    const contents = await garbage.contentsToDelete();
    const idOf = new Map(contents.map(({ objectKey, contentId }) => [objectKey, contentId]));
    const { deleted, failed } = await deleteEach([...idOf.keys()]);
    const ids = (keys: readonly string[]) => keys.flatMap((key) => idOf.get(key) ?? []);
    if (deleted.length > 0) await garbage.removeDeleted(ids(deleted));
    // Behind the others, so that objects that cannot be deleted do not hold them up.
    if (failed.length > 0) await garbage.postponeDeletion(ids(failed), clock.now());
    removed.labels('unneeded').inc(deleted.length);
    return deleted.length > 0;
  }

  /** Deletes objects until too many cannot be deleted, for example because the store does not answer. */
  async function deleteEach(keys: readonly string[]): Promise<{ deleted: string[]; failed: string[] }> {
    const deleted: string[] = [];
    const failed: string[] = [];
    let reason: unknown;
    await forEachConcurrently(keys, CONCURRENT_DELETES, async (key) => {
      if (failed.length >= MAX_FAILED_DELETES) return;
      try {
        await blobs.delete(key);
        deleted.push(key);
      } catch (error) {
        failed.push(key);
        reason = error;
      }
    });
    if (failed.length > 0)
      log.warn(
        { err: reason, objects: failed.length },
        'objects could not be deleted; the deletion will be repeated',
      );
    return { deleted, failed };
  }

  /** Removes the objects of processes that ended after writing an object and before inserting its content row. */
  async function removeOrphans(signal: AbortSignal): Promise<void> {
    const before = ago(graceMs);
    let orphans = 0;
    let keys: string[] = [];
    const removeUnused = async () => {
      const inUse = await garbage.objectsInUse(keys);
      const unused = keys.filter((key) => !inUse.has(key));
      keys = [];
      orphans += (await deleteEach(unused)).deleted.length;
    };
    for await (const { key, writtenAt } of blobs.list()) {
      if (signal.aborted) return;
      if (writtenAt < before) keys.push(key);
      if (keys.length === BATCH) await removeUnused();
    }
    if (keys.length > 0) await removeUnused();
    const unfinished = await blobs.deleteIncompleteWrites(before);
    removed.labels('stray').inc(orphans);
    if (orphans + unfinished > 0)
      log.info({ orphans, unfinished }, 'objects that belonged to no content were removed');
  }

  return task;
}
