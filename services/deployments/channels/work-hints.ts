import type { Bus } from '../../../lib/bus/bus.ts';
import { type Clock, wait } from '../../../lib/clock.ts';

export type WorkHints = ReturnType<typeof createWorkHints>;

/** Wakes waiting calls when a channel has changed or has work. */
export function createWorkHints(
  bus: Bus,
  clock: Clock,
  channels: readonly Parameters<Bus['subscribe']>[0][],
) {
  const waiting = new Set<{ subject: string | undefined; wake: () => void }>();
  const idle = Promise.withResolvers<void>();
  let isClosed = false;

  function wakeAll(subject: string): void {
    for (const one of waiting) if (one.subject === undefined || one.subject === subject) one.wake();
  }

  const subscriptions = channels.map((channel) => bus.subscribe(channel, wakeAll));

  return {
    /**
     * Notes hints from now on, of one subject or of all. Call it before reading, so that no hint between the read and the
     * wait is missed.
     */
    listen(subject?: string) {
      const woken = new AbortController();
      const listener = { subject, wake: () => woken.abort() };
      waiting.add(listener);
      if (isClosed) woken.abort();
      return {
        /** Resolves with the first hint since `listen`, after `ms`, or when the signal aborts. */
        wait: (ms: number, signal: AbortSignal): Promise<void> =>
          wait(clock, ms, AbortSignal.any([woken.signal, signal])),
        [Symbol.dispose]: () => {
          waiting.delete(listener);
          if (isClosed && waiting.size === 0) idle.resolve();
        },
      };
    },

    get isClosed(): boolean {
      return isClosed;
    },

    /** Wakes all calls, and later ones at once. Resolves when no call listens any more. */
    async close(): Promise<void> {
      isClosed = true;
      for (const unsubscribe of subscriptions) unsubscribe();
      for (const { wake } of waiting) wake();
      if (waiting.size > 0) await idle.promise;
    },
  };
}
