/** Worker process: holds event streams open and reads them until it is killed. */

import { openEvents } from '../clients/event-socket.ts';
import { runWorker } from './worker.ts';

export interface StreamsJob {
  port: number;
  /** One path per stream. */
  paths: string[];
}

/** Connections opened concurrently. */
const AT_ONCE = 50;

runWorker(async ({ port, paths }: StreamsJob, ready): Promise<never> => {
  const lost = Promise.withResolvers<never>();
  const remaining = paths.values();
  const openSome = async () => {
    for (const path of remaining) await openStream(port, path, lost.reject);
  };
  await Promise.race([Promise.all(Array.from({ length: AT_ONCE }, openSome)), lost.promise]);
  ready();
  return await lost.promise;
});

/** Resolves when the stream has caught up with the journal. */
function openStream(port: number, path: string, lost: (error: Error) => void): Promise<void> {
  return new Promise((resolve) => {
    openEvents(port, path, { frame: ({ type }) => type === 'stream.caught_up' && resolve(), lost });
  });
}
