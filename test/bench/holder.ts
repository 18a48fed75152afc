/** Holds event streams open and reads what comes, until it is ended. Runs as a process of its own. */
import { carryOut } from './errand.ts';
import { openEvents } from './event-socket.ts';

export interface HoldJob {
  port: number;
  /** One for each stream. */
  paths: string[];
}

/** Connections that are opened at the same time. */
const AT_ONCE = 50;

carryOut(async ({ port, paths }: HoldJob, ready): Promise<never> => {
  const lost = Promise.withResolvers<never>();
  const remaining = paths.values();
  const openSome = async () => {
    for (const path of remaining) await hold(port, path, lost.reject);
  };
  await Promise.race([Promise.all(Array.from({ length: AT_ONCE }, openSome)), lost.promise]);
  ready();
  return await lost.promise;
});

/** Resolves when all that was in the journal has come. */
function hold(port: number, path: string, lost: (error: Error) => void): Promise<void> {
  return new Promise((resolve) => {
    openEvents(port, path, { frame: ({ type }) => type === 'stream.caught_up' && resolve(), lost });
  });
}
