import type { Bus } from './bus.ts';

/** Hints within one process: a subscriber has heard a hint when `publish` returns. */
export function createLocalBus(): Bus {
  const listeners = new Map<string, Set<(subject: string) => void>>();
  return {
    publish(channel, subject) {
      for (const listener of listeners.get(channel) ?? []) listener(subject);
    },
    subscribe(channel, listener) {
      const set = listeners.get(channel) ?? new Set();
      listeners.set(channel, set);
      set.add(listener);
      return () => set.delete(listener);
    },
    settle: async () => {},
    check: async () => {},
    close: async () => listeners.clear(),
  };
}
