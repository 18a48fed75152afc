/**
 * Worker process: opens event streams. The figures are complete when every stream has received one event after it had
 * caught up.
 */
import { openEvents } from '../bench/clients/event-socket.ts';
import { runWorker } from '../bench/workers/worker.ts';

export interface ManyStreamsJob {
  port: number;
  /** One path per stream. */
  paths: string[];
}

/** The streams that received this number of events after they had caught up. */
export type ManyStreamsFigures = Record<number, number>;

/** Connections opened concurrently. */
const AT_ONCE = 50;
/** Time in which a repeated event would arrive. */
const AFTER_LAST_MS = 500;

runWorker(async ({ port, paths }: ManyStreamsJob, ready): Promise<ManyStreamsFigures> => {
  const received = new Uint32Array(paths.length);
  const lost = Promise.withResolvers<never>();
  const all = Promise.withResolvers<void>();
  let waiting = paths.length;
  const openStream = (path: string, index: number) =>
    new Promise<void>((resolve) => {
      let caughtUp = false;
      openEvents(port, path, {
        frame({ type }) {
          if (type === 'stream.caught_up') {
            caughtUp = true;
            resolve();
          } else if (caughtUp) {
            received[index] = (received[index] ?? 0) + 1;
            if (received[index] === 1 && --waiting === 0) all.resolve();
          }
        },
        lost: lost.reject,
      });
    });
  const remaining = paths.entries();
  const openSome = async () => {
    for (const [index, path] of remaining) await openStream(path, index);
  };
  await Promise.race([Promise.all(Array.from({ length: AT_ONCE }, openSome)), lost.promise]);
  ready();
  await Promise.race([all.promise, lost.promise]);
  await Promise.race([new Promise((resolve) => setTimeout(resolve, AFTER_LAST_MS)), lost.promise]);
  const figures: ManyStreamsFigures = {};
  for (const count of received) figures[count] = (figures[count] ?? 0) + 1;
  return figures;
});
