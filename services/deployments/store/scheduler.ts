import type { Database } from '../../../lib/db/database.ts';
import { createCancelledRunStore } from './cancelled-runs.ts';
import { createContinuedSessionStore } from './continued-sessions.ts';
import { createFireStore } from './fires.ts';
import { createHistoryStore } from './history.ts';
import { createMissingTimeStore } from './missing-times.ts';
import { createRunQueue } from './run-queue.ts';
import { createRunStateStore } from './run-states.ts';
import { createTimeZoneStore } from './time-zones.ts';

export type SchedulerStores = ReturnType<typeof createSchedulerStores>;

/** The stores of the work that schedules do on their own. */
export function createSchedulerStores(db: Database) {
  return {
    fires: createFireStore(db),
    queue: createRunQueue(db),
    states: createRunStateStore(db),
    cancelledRuns: createCancelledRunStore(db),
    continuedSessions: createContinuedSessionStore(db),
    history: createHistoryStore(db),
    missingTimes: createMissingTimeStore(db),
    timeZones: createTimeZoneStore(db),
  };
}
