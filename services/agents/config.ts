import { setting } from '../../lib/env.ts';

export const settings = {
  pool: setting.integer(
    'SERVICE_AGENTS_POOL',
    { min: 1, max: 100, unit: 'connections' },
    { fallback: 4, about: 'Database connections of the agents service.' },
  ),
};
