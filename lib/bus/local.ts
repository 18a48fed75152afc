import type { Bus } from './bus.ts';
import { createListeners } from './listeners.ts';

/** Hints within one process. `publish` returns after all listeners have run. `onError` receives the errors of listeners. */
export function createLocalBus(onError: (error: unknown) => void = () => {}): Bus {
  const listeners = createListeners(onError);
  return {
    publish: listeners.notify,
    subscribe: listeners.add,
    awaitPropagation: async () => {},
    check: async () => {},
    close: async () => listeners.clear(),
  };
}
