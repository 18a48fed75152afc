import type { Channel } from './bus.ts';

type Listener = (subject: string) => void;

/** The listeners of this process by channel. Errors of a listener go to `onError` and never to the publisher. */
export function createListeners(onError: (error: unknown) => void) {
  const channels = new Map<string, Set<{ listener: Listener }>>();

  return {
    /** The returned function removes the listener. */
    add(channel: Channel, listener: Listener): () => void {
      const set = channels.get(channel) ?? new Set();
      const entry = { listener };
      channels.set(channel, set.add(entry));
      return () => void set.delete(entry);
    },
    notify(channel: string, subject: string): void {
      for (const { listener } of channels.get(channel) ?? []) {
        try {
          listener(subject);
        } catch (error) {
          onError(error);
        }
      }
    },
    /** Every channel that has had a listener. */
    channels: () => channels.keys(),
    clear: () => channels.clear(),
  };
}
