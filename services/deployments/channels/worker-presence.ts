import type { Clock } from '../../../lib/clock.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import { LruCache } from '../../../lib/lru.ts';
import { DegradedError } from '../../../lib/modules.ts';
import type { ChannelWorkerStore, SeenWorker } from '../store/channel-workers.ts';

/** A worker asks for work, or renews its leases, at least every 25 seconds. */
const PRESENT_MS = 60_000;
/** A row is written at most this often for each worker. */
const NOTE_EVERY_MS = 10_000;
const MAX_WORKERS = 1_000;

interface WorkerPresenceContext {
  store: ChannelWorkerStore;
  clock: Clock;
}

export type WorkerPresence = ReturnType<typeof createWorkerPresence>;

/** Knows which channel workers run, so that operators see when none does. */
export function createWorkerPresence({ store, clock }: WorkerPresenceContext) {
  const openedAt = clock.now().getTime();
  const noted = new LruCache<string, number>(MAX_WORKERS);

  async function find(call?: Pick<Call, 'trace'>): Promise<{ workers: SeenWorker[]; isMissing: boolean }> {
    const now = clock.now().getTime();
    const options = { trace: call?.trace };
    const workers = await store.seenAfter(new Date(now - PRESENT_MS), options);
    // The workers that start together with this process have not asked yet.
    const isTooEarly = now - openedAt < PRESENT_MS;
    const isMissing = workers.length === 0 && !isTooEarly && (await store.areNeeded(options));
    return { workers, isMissing };
  }

  return {
    /** Notes that a worker has called. */
    async note(workerId: string, { trace }: Pick<Call, 'trace'>): Promise<void> {
      const seenAt = clock.now();
      const last = noted.get(workerId);
      if (last !== undefined && Math.abs(seenAt.getTime() - last) < NOTE_EVERY_MS) return;
      noted.set(workerId, seenAt.getTime());
      await store.note({ workerId, seenAt }, { trace });
    },

    /** The workers that have called within the last minute. Missing: there is none although a channel is enabled. */
    find,

    /** Rejects with DegradedError while workers are missing. */
    async check(): Promise<void> {
      const { isMissing } = await find();
      if (isMissing)
        throw new DegradedError('no channel worker has asked for work for a minute; channels wait for one');
    },
  };
}
