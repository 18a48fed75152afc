import { defineConfig } from 'vitest/config';

/** Lane 1: what needs nothing but Node and npm. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/{real,bench,chaos,support}/**'],
    // The one database server of a run; every test file makes databases of its own in it.
    globalSetup: ['test/support/scratch.ts', 'test/support/compile-cache.ts', 'test/support/postgres.ts'],
    pool: 'forks',
    // Tests wait much of the time.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
    retry: 0,
    allowOnly: false,
    passWithNoTests: false,
    reporters: ['default'],
    env: { SERVICE_TEST_LANE: 'embedded' },
  },
});
