import type { Channel } from './bus.ts';

export type Listener = (subject: string) => void;

/** Who listens to which channel in this process. What a listener throws does not reach who gives the hint. */
export function createListeners(onError: (error: unknown) => void) {
  const channels = new Map<string, Set<{ listener: Listener }>>();

  return {
    /** The returned function ends it. */
    add(channel: Channel, listener: Listener): () => void {
      const set = channels.get(channel) ?? new Set();
      const entry = { listener };
      channels.set(channel, set.add(entry));
      return () => void set.delete(entry);
    },
    tell(channel: string, subject: string): void {
      for (const { listener } of channels.get(channel) ?? []) {
        try {
          listener(subject);
        } catch (error) {
          onError(error);
        }
      }
    },
    /** Every channel that somebody has ever listened to. */
    channels: () => channels.keys(),
    clear: () => channels.clear(),
  };
}
