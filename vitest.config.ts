import { defineConfig } from 'vitest/config';

/** Repeated crashes. They need only Node and npm, but take too long for lane 1. */
export const CRASHES = ['test/e2e/{crash,tool-crash,workspace-crash}.test.ts'];

/** They restart every process many times. Lane 2 runs them in both process shapes. */
const RESTARTS = 'test/e2e/restart.test.ts';

/**
 * They start the program dozens of times or send thousands of requests: together a fifth of the CPU time that lane 1 had with
 * them. Lane 2 runs them on embedded backends.
 */
export const PROGRAMS = [
  'test/e2e/{kill,offered-tools,operations,paused-runner,readiness,start-problems,stop}.test.ts',
  'test/edge/openapi-conformance.test.ts',
];

/** Lane 1: tests that need only Node and npm. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/{real,bench,chaos,support}/**', ...CRASHES, ...PROGRAMS, RESTARTS],
    // One database server per run; each test file creates its own databases in it.
    globalSetup: ['test/support/scratch.ts', 'test/support/compile-cache.ts', 'test/support/postgres.ts'],
    pool: 'forks',
    // More workers than cores, because tests mostly wait.
    maxWorkers: 4,
    // Loading the packages again for each file takes a third of the CPU time. Tests do not mock modules.
    isolate: false,
    // Limits only against waiting for ever: a busy machine needs up to ten times longer than usual.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // The limit of `until` in test/support/wait.ts.
    expect: { poll: { timeout: 120_000 } },
    teardownTimeout: 20_000,
    retry: 0,
    allowOnly: false,
    passWithNoTests: false,
    reporters: ['default'],
    env: { SERVICE_TEST_LANE: 'embedded' },
  },
});
