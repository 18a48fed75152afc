/**
 * Follows sessions, and takes the time from each event's `created_at`, as it was journalled, until its last byte is
 * read. Nothing may be missing: the numbers of a stream have no gap. Runs as a process of its own.
 */
import { pause, type Spread, spreadOf } from './bench.ts';
import { carryOut } from './errand.ts';
import { type Frame, openEvents } from './event-socket.ts';

export interface AudienceJob {
  port: number;
  /** One for each follower. */
  paths: string[];
  /** From when all have caught up. */
  warmUpMs: number;
  durationMs: number;
}

export interface AudienceFigures extends Spread {
  deliveries: number;
  /** Of the followers themselves, in the measured time. */
  cpuMs: number;
}

const CREATED_AT = '"created_at":"';
const TIME_CHARS = 24;
/** Connections that are opened at the same time. */
const AT_ONCE = 25;

carryOut(async (job: AudienceJob, ready): Promise<AudienceFigures> => {
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

/** Resolves when the follower has caught up. */
function follow(
  port: number,
  path: string,
  take: (frame: Frame, at: number) => void,
  lost: (error: Error) => void,
): Promise<void> {
  const caughtUp = Promise.withResolvers<void>();
  let last = 0;
  openEvents(port, path, {
    frame(frame, at) {
      if (frame.type === 'stream.caught_up') caughtUp.resolve();
      if (frame.seq === undefined) return;
      if (frame.seq !== last + 1) lost(new Error(`after event ${last} came ${frame.seq}`));
      last = frame.seq;
      take(frame, at);
    },
    lost,
  });
  return caughtUp.promise;
}

/** No text that somebody has written stands before it. */
function createdAt({ text }: Frame): number {
  const at = text.indexOf(CREATED_AT) + CREATED_AT.length;
  return Date.parse(text.slice(at, at + TIME_CHARS));
}
