import { defineConfig } from 'vitest/config';
import embedded from './vitest.config.ts';

/** The end-to-end cases, which both shapes of the product have to pass. */
const JOURNEYS = [
  'test/e2e/{journey,webhook,restart,trace,workspace,workspace-crash}.test.ts',
  'test/edge/ai-stream/{chat,joining,request}.test.ts',
  'test/edge/files/tree.test.ts',
  'test/edge/{environments,limits}.test.ts',
];
/** What only separate processes have to show. */
const APART = ['test/real/{targets,replicas,environments,limits}.test.ts'];
const ON_REAL_BACKENDS = { SERVICE_TEST_LANE: 'real' };
const { include: _, exclude: __, env: ___, ...common } = embedded.test ?? {};

/**
 * Lane 2: the same contract suites, on the backends that an operator brings along (Redis, an S3
 * server, a separate PostgreSQL, processes apart), and what only they can show. The journeys run once in each shape.
 */
export default defineConfig({
  test: {
    ...common,
    globalSetup: [...(common.globalSetup ?? []), 'test/support/object-store.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'one process',
          include: [...JOURNEYS, 'test/edge/stream.test.ts', 'test/real/{,console/}*.test.ts'],
          exclude: APART,
          env: { ...ON_REAL_BACKENDS, SERVICE_TEST_SHAPE: 'one process' },
        },
      },
      {
        extends: true,
        test: {
          name: 'a process per target',
          include: [...JOURNEYS, ...APART],
          env: { ...ON_REAL_BACKENDS, SERVICE_TEST_SHAPE: 'a process per target' },
        },
      },
    ],
  },
});
