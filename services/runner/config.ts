import { setting } from '../../lib/env.ts';

export const settings = {
  slots: setting.integer(
    'SERVICE_RUNNER_SLOTS',
    { min: 0, max: 1_000, unit: 'turns' },
    {
      fallback: 256,
      about: 'Turns one runner carries out at the same time; with 0 it leaves them to other runners.',
    },
  ),
  reportIntervalMs: setting.integer(
    'SERVICE_RUNNER_REPORT_INTERVAL_MS',
    { min: 25, max: 50, unit: 'milliseconds' },
    { fallback: 30, about: 'How often a runner appends what its turns have said since the last time.' },
  ),
  stepTimeoutSeconds: setting.integer(
    'SERVICE_RUNNER_STEP_TIMEOUT_SECONDS',
    { min: 1, max: 86_400, unit: 'seconds' },
    { fallback: 600, about: 'The longest one model step may take before it is tried again.' },
  ),
  drainMs: setting.integer(
    'SERVICE_RUNNER_DRAIN_MS',
    { min: 0, max: 1_500, unit: 'milliseconds' },
    { fallback: 1_000, about: 'How long a stopping runner lets its turns go on before it hands them back.' },
  ),
};
