import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { Metrics } from '../../../lib/metrics.ts';
import { startPeriodicTask } from '../../../lib/periodic-task.ts';
import { PROVIDERS } from '../domain/channels/channel.ts';
import { CONNECTION_STATES, removalEnded } from '../domain/channels/connection.ts';
import type { ConnectionCount, ConnectionStore } from '../store/connections.ts';

const EVERY_MS = 15_000;

interface ConnectionUpkeepContext {
  store: Pick<ConnectionStore, 'change' | 'count' | 'dueRemovals'>;
  metrics: Metrics;
  clock: Clock;
  log: Log;
}

/**
 * Ends the removals of channels whose time is over, and exports the connections of the whole database as gauges: the same
 * values in each instance of the service.
 */
export function startConnectionUpkeep({ store, metrics, clock, log }: ConnectionUpkeepContext) {
  let counts: ConnectionCount[] = [];
  metrics.gauge(
    {
      name: 'ahs_channel_connections',
      help: 'Channels by provider and state of their connection, of the whole database.',
      labels: ['provider', 'state'],
    },
    (set) => {
      for (const provider of PROVIDERS)
        for (const state of CONNECTION_STATES)
          set(
            counts.find((row) => row.provider === provider && row.state === state)?.count ?? 0,
            provider,
            state,
          );
    },
  );

  async function endRemovals(): Promise<void> {
    const now = clock.now();
    for (const deploymentId of await store.dueRemovals(now)) {
      let problem: string | null = null;
      let isEnded = false;
      await store.change(deploymentId, (before) => {
        const isDue = before?.wanted === 'remove' && before.removeUntil && before.removeUntil <= now;
        if (!before || !isDue) return undefined;
        problem = before.lastError;
        isEnded = true;
        return removalEnded(before);
      });
      if (isEnded)
        log.warn(
          { deployment_id: deploymentId, problem },
          'a disabled or deleted channel could not be removed from its product for 24 hours; it is not tried again',
        );
    }
  }

  return startPeriodicTask({
    clock,
    everyMs: EVERY_MS,
    firstAfterMs: 0,
    async work() {
      await endRemovals();
      counts = await store.count();
    },
    onFailure: (error) =>
      log.warn(
        { err: error },
        'connections of channels could not be read; the gauges keep their last values',
      ),
  });
}
