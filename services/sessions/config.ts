import { setting } from '../../lib/env.ts';

export const settings = {
  pool: setting.integer(
    'SERVICE_SESSIONS_POOL',
    { min: 4, max: 500, unit: 'connections' },
    {
      fallback: 16,
      about:
        'Database connections of the sessions service; in team mode as many more for what is done on behalf of users.',
    },
  ),
  leaseSeconds: setting.integer(
    'SERVICE_TURN_LEASE_SECONDS',
    { min: 1, max: 600, unit: 'seconds' },
    { fallback: 15, about: 'How long a runner may be silent before its turns go to another one.' },
  ),
  maxFailures: setting.integer(
    'SERVICE_TURN_MAX_RETRIES',
    { min: 0, max: 100 },
    { fallback: 5, about: 'How often a turn is tried again after a failure that may pass.' },
  ),
  approvalTtlSeconds: setting.integer(
    'SERVICE_APPROVAL_TTL_SECONDS',
    { min: 1, max: 31_536_000, unit: 'seconds' },
    { fallback: 86_400, about: 'How long somebody has for an approval before it counts as denied.' },
  ),
  maxTurnsPerAgent: setting.integer(
    'SERVICE_AGENT_MAX_RUNNING_TURNS',
    { min: 1, max: 100_000 },
    { fallback: 1_000, about: 'Turns of one agent that run at the same time; the others wait in the queue.' },
  ),
  quotaTurnsPerDay: setting.integer(
    'SERVICE_QUOTA_TURNS_PER_DAY',
    { min: 0, max: 1_000_000_000, unit: 'turns' },
    {
      fallback: 0,
      about:
        'How many turns one user may begin on one day (UTC), by messages and by webhooks of theirs. 0 is no limit. What ' +
        'was begun before it was set is not counted.',
    },
  ),
  purgeAfterSeconds: setting.integer(
    'SERVICE_SESSION_PURGE_AFTER_SECONDS',
    { min: 60, max: 31_536_000, unit: 'seconds' },
    {
      fallback: 3_600,
      about: 'How long the content of a deleted session stays in the database before it is erased.',
    },
  ),
};
