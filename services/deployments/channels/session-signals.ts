import type { Clock } from '../../../lib/clock.ts';
import type { Signal } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { ConversationWorkStore } from '../store/conversation-work.ts';

interface ChannelSignalsContext {
  store: Pick<ConversationWorkStore, 'signal' | 'end'>;
  /** Wakes the channel workers. */
  wakeWorkers: () => void;
  clock: Clock;
}

/**
 * Returns a function that engages the conversations whose sessions have changed, and makes deliveries ready that wait for
 * the queue of a session. Repeating it does no harm.
 */
export function createChannelSignals({ store, wakeWorkers, clock }: ChannelSignalsContext) {
  return async (signals: readonly Signal[]): Promise<void> => {
    const changed = new Set<string>();
    const deleted = new Set<string>();
    for (const { kind, sessionId } of signals)
      (kind === 'session_deleted' ? deleted : changed).add(sessionId);
    const live = [...changed].filter((sessionId) => !deleted.has(sessionId));
    if (deleted.size > 0) await store.end([...deleted], clock.now());
    if (live.length > 0 && (await store.signal(live, clock.now())) > 0) wakeWorkers();
  };
}
