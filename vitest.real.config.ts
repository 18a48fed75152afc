import { defineConfig, mergeConfig } from 'vitest/config';
import embedded from './vitest.config.ts';

/**
 * Lane 2: the same contract suites, on the backends that an operator brings along (Redis, a separate
 * PostgreSQL, processes apart), and what only they can show.
 */
const real = mergeConfig(
  embedded,
  defineConfig({
    test: {
      testTimeout: 60_000,
      hookTimeout: 120_000,
      env: { SERVICE_TEST_LANE: 'real' },
    },
  }),
);

// mergeConfig joins lists; these two replace what the first lane says.
real.test = {
  ...real.test,
  include: ['test/real/**/*.test.ts', 'test/e2e/{journey,webhook}.test.ts', 'test/edge/stream.test.ts'],
  exclude: ['test/{bench,chaos,support}/**'],
};

export default real;
