import { setting } from '../../lib/env.ts';
import { webhookMaxBodyBytes } from '../../lib/limits.ts';

export const settings = {
  pool: setting.integer(
    'SERVICE_DEPLOYMENTS_POOL',
    { min: 1, max: 500, unit: 'connections' },
    {
      fallback: 4,
      about:
        'Database connections of the deployments service; in team mode as many more for what is done on behalf of users.',
    },
  ),
  windowSeconds: setting.integer(
    'SERVICE_WEBHOOK_HMAC_WINDOW_SECONDS',
    { min: 1, max: 86_400, unit: 'seconds' },
    { fallback: 300, about: 'How far the timestamp of a signed webhook may be from now, before and after.' },
  ),
  maxBodyBytes: webhookMaxBodyBytes,
};
