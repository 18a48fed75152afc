import type { Settings } from '../../../lib/env.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import { startPeriodicTask } from '../../../lib/periodic-task.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { SessionsServiceDefinition, Signal } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Admission } from '../admission.ts';
import type { settings } from '../config.ts';
import type { SchedulerStores } from '../store/scheduler.ts';
import { createCancelledRunCheck } from './cancelled-runs.ts';
import type { CompiledTimings } from './compiled-timings.ts';
import { createFire } from './fire.ts';
import { createScheduleMetrics } from './metrics.ts';
import { startMissingTimes } from './missing-times.ts';
import { createPromptRenderer } from './prompt-renderer.ts';
import { startRetention } from './retention.ts';
import { createRunInterrupter } from './run-interrupter.ts';
import { createRunProgress } from './run-progress.ts';
import { createRunSessions } from './run-sessions.ts';
import { createRunStart } from './run-start.ts';
import type { ScheduleTimes } from './schedule-times.ts';
import { startSignalConsumer } from './signal-consumer.ts';
import { startStaleRunLookups } from './stale-runs.ts';
import { createStarter } from './starter.ts';
import { startTicker } from './ticker.ts';
import { updateTimeZoneData } from './time-zone-data.ts';
import { createTurnLookup } from './turn-lookup.ts';

/** The time zone data is compared at the start; after a failure again every minute. */
const TIME_ZONE_CHECK_MS = 60_000;

interface SchedulerContext {
  agents: Client<AgentsServiceDefinition>;
  sessions: Client<SessionsServiceDefinition>;
  admission: Admission;
  timings: CompiledTimings;
  times: ScheduleTimes;
  stores: SchedulerStores;
  /** One claim of signals serves schedules and channels. */
  engageConversations: (signals: readonly Signal[]) => Promise<void>;
}

/** Starts the work that schedules do on their own: it fires due schedules, starts runs and follows their turns. */
export function startScheduler(
  { clock, ids, log, bus, tracer, metrics: processMetrics, random }: ServiceContext,
  config: Pick<Settings<typeof settings>, 'scheduleBatch' | 'runHistoryDays'>,
  { agents, sessions, admission, timings, times, stores, engageConversations }: SchedulerContext,
) {
  const { fires, queue, states, cancelledRuns, continuedSessions, history, missingTimes, timeZones } = stores;
  const metrics = createScheduleMetrics(processMetrics);
  const progress = createRunProgress({ states, metrics, clock, onReady: () => starter.request() });
  const turns = createTurnLookup({ sessions, progress });
  const interrupter = createRunInterrupter({ admission, sessions, turns });
  const start = createRunStart({
    ...{ admission, sessions, queue, states, progress, metrics, tracer, clock, log, random },
    interrupt: interrupter.interrupt,
    runSessions: createRunSessions({ sessions, store: continuedSessions, clock }),
    renderer: createPromptRenderer({ agents, states }),
  });
  const starter = createStarter({ queue, start, clock, log });
  const fire = createFire({
    ...{ store: fires, timings, turns, metrics, tracer, clock, ids, log },
    batch: config.scheduleBatch,
  });
  const ticker = startTicker({ queue, fire, starter, clock, log });
  const unsubscribe = bus.subscribe('schedules.changed', () => ticker.wake());
  const consumer = startSignalConsumer({
    ...{ sessions, states, progress, engageConversations, bus, clock, log },
  });
  const lookups = startStaleRunLookups({
    ...{ states, turns, clock, log, hasWaiting: ticker.hasWaiting },
    checkCancelled: createCancelledRunCheck({ store: cancelledRuns, queue, sessions, interrupter, clock }),
    onReady: () => starter.request(),
  });
  const retention = startRetention({ history, clock, log, historyDays: config.runHistoryDays });
  const missing = startMissingTimes({ store: missingTimes, times, clock, log });
  const zones = startPeriodicTask({
    clock,
    everyMs: TIME_ZONE_CHECK_MS,
    firstAfterMs: 0,
    work: (signal) =>
      updateTimeZoneData({ store: timeZones, timings, clock, log, version: timeZoneVersion() }, signal),
    onFailure: (error) =>
      log.warn({ err: error }, 'the next times of schedules could not be compared with the time zone data'),
  });
  return {
    fireDue: fire.fireOne,
    interruptRun: interrupter.interruptAsOwner,
    async stop(): Promise<void> {
      unsubscribe();
      const tasks = [ticker, consumer, lookups, retention, missing, zones];
      await Promise.all(tasks.map((task) => task.stop()));
      await starter.stop();
    },
  };
}

/** The version of the time zone data, as Intl uses it. */
function timeZoneVersion(): string {
  const { tz = '', icu = '' } = process.versions;
  return `${tz} ${icu}`;
}
