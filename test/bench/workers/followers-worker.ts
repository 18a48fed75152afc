/**
 * Worker process: follows sessions and measures the time from each event's `created_at` until its last byte is read. Fails if a
 * stream skips a seq.
 */
import { pause, type Spread, spreadOf } from '../bench.ts';
import { type Frame, openEvents } from '../clients/event-socket.ts';
import { runWorker } from './worker.ts';

export interface FollowersJob {
  port: number;
  /** One path per follower. */
  paths: string[];
  /** Starts when all followers have caught up. */
  warmUpMs: number;
  durationMs: number;
}

export interface FollowersFigures extends Spread {
  deliveries: number;
  /** CPU time of this worker during the measurement. */
  cpuMs: number;
}

const CREATED_AT = '"created_at":"';
const TIME_CHARS = 24;
/** Connections opened concurrently. */
const AT_ONCE = 25;

runWorker(async (job: FollowersJob, ready): Promise<FollowersFigures> => {
  const delays: number[] = [];
  let measuring = false;
  const lost = Promise.withResolvers<never>();
  const take = (frame: Frame, at: number) => {
    if (measuring) delays.push(at - createdAt(frame));
  };
  const remaining = job.paths.values();
  const openSome = async () => {
    for (const path of remaining) await follow(job.port, path, take, lost.reject);
  };
  await Promise.race([Promise.all(Array.from({ length: AT_ONCE }, openSome)), lost.promise]);
  await Promise.race([pause(job.warmUpMs), lost.promise]);
  ready();
  measuring = true;
  const before = process.cpuUsage();
  await Promise.race([pause(job.durationMs), lost.promise]);
  const { user, system } = process.cpuUsage(before);
  return { ...spreadOf(delays), deliveries: delays.length, cpuMs: (user + system) / 1_000 };
});

/** Resolves at `stream.caught_up`. */
function follow(
  port: number,
  path: string,
  onFrame: (frame: Frame, at: number) => void,
  lost: (error: Error) => void,
): Promise<void> {
  const caughtUp = Promise.withResolvers<void>();
  let last = 0;
  openEvents(port, path, {
    frame(frame, at) {
      if (frame.type === 'stream.caught_up') caughtUp.resolve();
      if (frame.seq === undefined) return;
      if (frame.seq !== last + 1) lost(new Error(`event ${frame.seq} follows event ${last}`));
      last = frame.seq;
      onFrame(frame, at);
    },
    lost,
  });
  return caughtUp.promise;
}

/** Finds the first `created_at`, which precedes all user-written text of an event. */
function createdAt({ text }: Frame): number {
  const at = text.indexOf(CREATED_AT) + CREATED_AT.length;
  return Date.parse(text.slice(at, at + TIME_CHARS));
}
