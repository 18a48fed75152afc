import { setting } from '../../lib/env.ts';
import { webhookMaxBodyBytes } from '../../lib/limits.ts';

export const settings = {
  pool: setting.integer(
    'SERVICE_DEPLOYMENTS_POOL',
    { min: 1, max: 500, unit: 'connections' },
    {
      fallback: 4,
      about:
        'Database connections of the deployments service. In team mode, the service opens as many again for requests of users.',
    },
  ),
  windowSeconds: setting.integer(
    'SERVICE_WEBHOOK_HMAC_WINDOW_SECONDS',
    { min: 1, max: 86_400, unit: 'seconds' },
    {
      fallback: 300,
      about:
        'Largest accepted difference between the timestamp of a signed webhook and the current time, in seconds, in both directions.',
    },
  ),
  maxBodyBytes: webhookMaxBodyBytes,
  scheduleMinIntervalSeconds: setting.integer(
    'SERVICE_SCHEDULE_MIN_INTERVAL_SECONDS',
    { min: 1, max: 86_400, unit: 'seconds' },
    {
      fallback: 60,
      about:
        'Shortest allowed distance between two times of a schedule, in seconds. It holds for new and changed timings.',
    },
  ),
  scheduleBatch: setting.integer(
    'SERVICE_SCHEDULE_BATCH',
    { min: 1, max: 5_000, unit: 'schedules' },
    {
      fallback: 500,
      about:
        'Due schedules that one transaction fires. Change it only when the database logs long transactions or is far away.',
    },
  ),
  runHistoryDays: setting.integer(
    'SERVICE_RUN_HISTORY_DAYS',
    { min: 1, max: 3_650, unit: 'days' },
    {
      fallback: 400,
      about: 'Runs of schedules are deleted this many days after their creation. Their sessions remain.',
    },
  ),
};
