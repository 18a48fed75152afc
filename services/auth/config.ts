import { setting } from '../../lib/env.ts';

export const settings = {
  pool: setting.integer(
    'SERVICE_AUTH_POOL',
    { min: 1, max: 100, unit: 'connections' },
    { fallback: 2, about: 'Database connections of the auth service.' },
  ),
};
