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
};
