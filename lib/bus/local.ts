import type { Bus } from './bus.ts';
import { createListeners } from './listeners.ts';

/** Hints within one process: a subscriber has heard a hint when `publish` returns. `onError` hears what listeners throw. */
export function createLocalBus(onError: (error: unknown) => void = () => {}): Bus {
  const listeners = createListeners(onError);
  return {
    publish: listeners.tell,
    subscribe: listeners.add,
    settle: async () => {},
    check: async () => {},
    close: async () => listeners.clear(),
  };
}
