import { setting } from '../../lib/env.ts';

export const settings = {
  pool: setting.integer(
    'SERVICE_SESSIONS_POOL',
    { min: 4, max: 500, unit: 'connections' },
    {
      fallback: 16,
      about:
        'Database connections of the sessions service. In team mode it opens as many more for reads on behalf of users.',
    },
  ),
  leaseSeconds: setting.integer(
    'SERVICE_TURN_LEASE_SECONDS',
    { min: 1, max: 600, unit: 'seconds' },
    {
      fallback: 15,
      about:
        'Turn lease duration. A turn is requeued when its runner has not renewed the lease for this long.',
    },
  ),
  maxFailures: setting.integer(
    'SERVICE_TURN_MAX_RETRIES',
    { min: 0, max: 100 },
    {
      fallback: 5,
      about: 'Retries of a turn after retryable failures in a row. The turn fails when they are spent.',
    },
  ),
  approvalTtlSeconds: setting.integer(
    'SERVICE_APPROVAL_TTL_SECONDS',
    { min: 1, max: 31_536_000, unit: 'seconds' },
    {
      fallback: 86_400,
      about:
        'How long an approval or a client call stays open. After that an approval counts as denied, and the model gets an ' +
        'error for a client call.',
    },
  ),
  maxTurnsPerAgent: setting.integer(
    'SERVICE_AGENT_MAX_RUNNING_TURNS',
    { min: 1, max: 100_000 },
    {
      fallback: 1_000,
      about: 'Turns of one agent that may run at the same time. Further turns wait in the queue.',
    },
  ),
  quotaTurnsPerDay: setting.integer(
    'SERVICE_QUOTA_TURNS_PER_DAY',
    { min: 0, max: 1_000_000_000, unit: 'turns' },
    {
      fallback: 0,
      about:
        'Turns that a user may start per UTC day, with messages and with webhooks. 0 is no limit. Turns that were ' +
        'started before the limit was set are not counted.',
    },
  ),
  purgeAfterSeconds: setting.integer(
    'SERVICE_SESSION_PURGE_AFTER_SECONDS',
    { min: 60, max: 31_536_000, unit: 'seconds' },
    {
      fallback: 3_600,
      about: 'How long the content of a deleted session is kept before it is erased.',
    },
  ),
};
