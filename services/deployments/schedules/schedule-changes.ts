import type { Clock } from '../../../lib/clock.ts';
import type { Deployment, Status } from '../domain/deployments.ts';
import type { ScheduleSettings } from '../domain/schedules/schedule.ts';
import type { ScheduledDeployment, StoredSchedule } from '../store/schedules.ts';
import type { ScheduleTimes } from './schedule-times.ts';

interface ChangedMembers {
  settings: ScheduleSettings;
  name: string;
  metadata: Readonly<Record<string, string>>;
  /** The session that earlier runs have created is not continued. */
  forgetsSession: boolean;
}

export type ScheduleChanges = ReturnType<typeof createScheduleChanges>;

/** Changes of schedules by clients. Each one increments the revision. */
export function createScheduleChanges({ times, clock }: { times: ScheduleTimes; clock: Clock }) {
  function touched(deployment: Deployment, now: Date): Deployment {
    return { ...deployment, revision: deployment.revision + 1, updatedAt: now };
  }

  return {
    /** A new schedule with its first time. */
    create(deployment: Deployment, settings: ScheduleSettings): StoredSchedule {
      return {
        deploymentId: deployment.deploymentId,
        settings,
        createdSessionId: null,
        pausedReason: null,
        failures: 0,
        runCount: 0,
        ...times.first(deployment, settings, deployment.createdAt),
      };
    },

    /** A new timing starts after now. A time that is pending stays pending when only other members change. */
    update({ deployment, schedule }: ScheduledDeployment, changed: ChangedMembers): ScheduledDeployment {
      const now = clock.now();
      const { settings, name, metadata, forgetsSession } = changed;
      const isNewTiming = JSON.stringify(settings.timing) !== JSON.stringify(schedule.settings.timing);
      const { deploymentId } = deployment;
      let { nextAt, dueAt } = schedule;
      if (isNewTiming && deployment.status === 'enabled')
        ({ nextAt, dueAt } = times.first(deployment, settings, now));
      else if (nextAt) dueAt = times.dueAt(deploymentId, nextAt, settings.jitterSeconds);
      const keepsSession =
        settings.sessionMode === 'continue' && settings.sessionId === null && !forgetsSession;
      const createdSessionId = keepsSession ? schedule.createdSessionId : null;
      return {
        deployment: { ...touched(deployment, now), name, metadata },
        schedule: { ...schedule, settings, createdSessionId, nextAt, dueAt },
      };
    },

    /** Disabling pauses the schedule. Enabling catches up nothing. The same status changes nothing. */
    setStatus({ deployment, schedule }: ScheduledDeployment, status: Status): ScheduledDeployment {
      if (deployment.status === status) return { deployment, schedule };
      const now = clock.now();
      const next =
        status === 'enabled'
          ? { ...times.next(deployment, schedule.settings, now), failures: 0 }
          : { nextAt: null, dueAt: null };
      return {
        deployment: { ...touched(deployment, now), status },
        schedule: { ...schedule, ...next, pausedReason: null },
      };
    },
  };
}
