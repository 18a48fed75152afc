import { backoffDelay, type Random, systemRandom } from '../../lib/backoff.ts';
import { type Clock, wait } from '../../lib/clock.ts';
import type { EventType } from '../../lib/event-types.ts';
import { withSmallHeap } from '../../lib/garbage-collection.ts';
import type { Client } from '../../lib/grpc/contract.ts';
import type { Log } from '../../lib/log.ts';
import { startPeriodicTask } from '../../lib/periodic-task.ts';
import type { FileEvent, SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { ChangeFeed, ChangeRow, PendingDelivery } from './store/change-feed.ts';
import type { UnconfirmedSessions } from './store/unconfirmed-sessions.ts';
import { uploadEvent } from './upload-event.ts';

export interface EventDelivererContext {
  feed: ChangeFeed;
  /** Sessions that may still be created. */
  expected: Pick<UnconfirmedSessions, 'isExpected'>;
  sessions: Pick<Client<SessionsServiceDefinition>, 'appendFileEvents'>;
  clock: Clock;
  log: Log;
  random?: Random | undefined;
}

const INTERVAL_MS = 1_000;
const BATCH = 500;
const CONCURRENT_DELIVERIES = 20;
/** After this many changes, the rest of a delivery runs with a small heap. */
const BULK_CHANGES = 20_000;
const RETRY = { firstMs: 1_000, maxMs: 60_000 };

export type EventDeliverer = ReturnType<typeof startEventDeliverer>;

/**
 * Delivers the file events of workspaces to their sessions, with retries until they succeed. Each delivery continues
 * after the last acknowledged event, and sessions ignore repeated events, so several replicas can deliver concurrently.
 */
export function startEventDeliverer({
  feed,
  expected,
  sessions,
  clock,
  log,
  random = systemRandom,
}: EventDelivererContext) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = new Map<string, Promise<boolean>>();
  /** True during an outage, which is logged only once. */
  let failing = false;
  const sweeping = startPeriodicTask({ clock, everyMs: INTERVAL_MS, work: sweep, onFailure: logFailure });

  /** Delivers everything that is due. A delivery that failed and could not be postponed is due at the next interval. */
  async function sweep(): Promise<void> {
    for (let hasMore = true; hasMore && !signal.aborted; ) {
      const due = await feed.due(clock.now(), CONCURRENT_DELIVERIES);
      const handled = await Promise.all(due.map(deliver));
      hasMore = due.length === CONCURRENT_DELIVERIES && !handled.includes(false);
    }
  }

  /** Never rejects: a failed delivery is postponed. Returns false if that has failed, too. */
  function deliver(delivery: PendingDelivery): Promise<boolean> {
    const key = `${delivery.workspaceId} ${delivery.sessionId}`;
    const work =
      running.get(key) ??
      deliverPending(delivery)
        .then(
          () => {
            failing = false;
            return true;
          },
          (error: unknown) => postpone(delivery, error),
        )
        .finally(() => running.delete(key));
    running.set(key, work);
    return work;
  }

  async function deliverPending(delivery: PendingDelivery): Promise<void> {
    const uploads = new Set<number>();
    const from = await deliverBatches(delivery, delivery.deliveredSeq, uploads, BULK_CHANGES / BATCH);
    if (from === undefined) return;
    await withSmallHeap(BULK_CHANGES, () =>
      deliverBatches(delivery, from, uploads, Number.POSITIVE_INFINITY),
    );
  }

  /**
   * Returns the last delivered change when more are pending after this number of batches. `uploads` are the versions of
   * the uploads in the batches before, whose events are delivered.
   */
  async function deliverBatches(
    delivery: PendingDelivery,
    first: number,
    uploads: Set<number>,
    batches: number,
  ): Promise<number | undefined> {
    let from: number | undefined = first;
    for (let count = 0; count < batches && from !== undefined && !signal.aborted; count++)
      from = await deliverBatch(delivery, from, uploads);
    return signal.aborted ? undefined : from;
  }

  /** Delivers the events of the changes after `from`. Returns the last of these changes when more are pending. */
  async function deliverBatch(
    delivery: PendingDelivery,
    from: number,
    uploads: Set<number>,
  ): Promise<number | undefined> {
    const { workspaceId, sessionId } = delivery;
    const rows = await feed.after(workspaceId, from, BATCH);
    const events = await eventsOf(
      workspaceId,
      rows.filter((row) => row.sessionId === sessionId),
      uploads,
    );
    const isGone =
      events.length > 0 && (await sessions.appendFileEvents({ sessionId, events }, { signal })).gone;
    if (isGone) {
      if (await expected.isExpected(sessionId, clock.now())) await postponeDelivery(delivery);
      else await feed.drop(delivery);
      return undefined;
    }
    const last = rows.at(-1)?.seq ?? from;
    return (await feed.markDelivered(delivery, last, clock.now())) ? last : undefined;
  }

  /** The events of changes. An upload has one event, at its first change. Adds the versions of the uploads to `uploads`. */
  async function eventsOf(
    workspaceId: string,
    rows: readonly ChangeRow[],
    uploads: Set<number>,
  ): Promise<FileEvent[]> {
    const versions = new Set(rows.filter(isUploadedFile).map((row) => row.workspaceVersion));
    // A summary reads all files of the upload, so it is read once and not for each batch of them.
    const newVersions = [...versions].filter((version) => !uploads.has(version));
    const summaries = newVersions.length === 0 ? [] : await feed.uploads(workspaceId, newVersions);
    for (const version of newVersions) uploads.add(version);
    const bySeq = new Map(summaries.map((upload) => [upload.firstSeq, upload]));
    return rows.flatMap((row) => {
      if (!isUploadedFile(row)) return eventOf(row);
      const upload = bySeq.get(row.seq);
      return upload ? [uploadEvent(upload, row)] : [];
    });
  }

  /** Returns whether the delivery is due later. */
  async function postpone(delivery: PendingDelivery, error: unknown): Promise<boolean> {
    if (signal.aborted) return false;
    logFailure(error);
    try {
      await postponeDelivery(delivery);
      return true;
    } catch (failure) {
      logFailure(failure);
      return false;
    }
  }

  async function postponeDelivery(delivery: PendingDelivery): Promise<void> {
    const pause = backoffDelay(delivery.attempts + 1, RETRY, random);
    await feed.postpone(delivery, new Date(clock.now().getTime() + pause));
  }

  function logFailure(error: unknown): void {
    if (!failing)
      log.warn({ err: error }, 'file events could not be delivered to sessions and will be retried');
    failing = true;
  }

  return {
    /** Delivers the events of a change that was just made. Resolves when they are delivered or after `maxWaitMs`. */
    async deliverNow(workspaceId: string, sessionId: string, maxWaitMs: number): Promise<void> {
      const delivering = (async () => {
        // A running delivery may have started before the change, so it may not include its events.
        await running.get(`${workspaceId} ${sessionId}`);
        const delivery = await feed.delivery(workspaceId, sessionId);
        if (delivery) await deliver(delivery);
      })().catch(logFailure);
      const done = new AbortController();
      await Promise.race([delivering, wait(clock, maxWaitMs, done.signal)]);
      done.abort();
    },

    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all([sweeping.stop(), ...running.values()]);
    },
  };
}

const isUploadedFile = ({ upload, kind }: ChangeRow) => upload && kind !== 'deleted';

/** A new directory has no event of its own; its files have. */
function eventOf(row: ChangeRow): FileEvent[] {
  if (row.kind !== 'deleted' && row.entryKind === 'directory') return [];
  const { seq, path, size, sha256, workspaceVersion, userId, createdAt } = row;
  const facts = row.kind === 'deleted' ? { path } : { path, size, sha256 };
  const dataJson = JSON.stringify({ ...facts, workspace_version: workspaceVersion });
  const type: EventType = `file.${row.kind}`;
  return [{ seq, type, dataJson, userId, createdAt }];
}
