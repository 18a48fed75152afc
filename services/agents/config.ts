import { type Settings, setting } from '../../lib/env.ts';

export const settings = {
  pool: setting.integer(
    'SERVICE_AGENTS_POOL',
    { min: 1, max: 100, unit: 'connections' },
    {
      fallback: 4,
      about:
        'Database connections of the agents service; in team mode as many more for what is done on behalf of users.',
    },
  ),
};

export type AgentsConfig = Settings<typeof settings> & {
  /** The OpenAI-compatible endpoints whose models agents may have, by name. */
  modelEndpoints?: Record<string, string> | undefined;
};
