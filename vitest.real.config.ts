import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import embedded, { CRASHES, PROGRAMS } from './vitest.config.ts';

/** Cases with stopped processes, which run in both process shapes. */
const STOPS = [
  'test/e2e/{restart,workspace-crash}.test.ts',
  'test/real/{client-tools,turn-waits,killed-processes}.test.ts',
];
/** Cases for separate processes. Lane 1 runs those outside of test/real in one process. */
const SEPARATE_PROCESSES = [
  'test/e2e/{journey,webhook,schedules,trace,workspace}.test.ts',
  'test/edge/ai-stream/{chat,joining,request}.test.ts',
  'test/edge/files/tree.test.ts',
  'test/edge/{environments,limits}.test.ts',
  'test/edge/access/matrix.test.ts',
  'test/edge/{structured-output,client-tool-overrides}.test.ts',
  'test/real/{targets,replicas,instances,environments,limits,grpc-tls,other-languages,vault-traffic,egress-targets,model-key-outage,killed-schedulers,killed-channel-workers,channel-secrets,protocols/{mcp,a2a}/two-edges}.test.ts',
];
/**
 * The suites of calls, and those that make every call of a service or follow a stream. Lane 1 runs all contract suites, over call
 * streams; what a service answers does not depend on the transport.
 */
const CONTRACTS = globSync([
  'test/lib/grpc/**/*.test.ts',
  'test/services/*/{peers,access}.test.ts',
  'test/services/{sessions/follow,files/contents}.test.ts',
]).filter((file) => readFileSync(file, 'utf8').includes('TRANSPORTS'));
/** Files of one minute and more. */
const LONG =
  /\/test\/(real\/(killed-channel-workers|containers|faults|many-deliveries|other-languages|console\/(accessibility|long-session|session)|protocols\/mcp\/clients)|e2e\/(restart|crash|tool-crash)|edge\/malformed-requests)\.test\.ts$/;

/** Starts the long files first, so that none of them runs alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { long = [], short = [] } = Object.groupBy(await super.sort(files), ({ moduleId }) =>
      LONG.test(moduleId) ? 'long' : 'short',
    );
    return [...long, ...short];
  }
}

const ON_REAL_BACKENDS = { SERVICE_TEST_LANE: 'real' };
const { include: _, exclude: __, env: ___, isolate: ____, ...common } = embedded.test ?? {};

/**
 * Lane 2: real backends (Redis, an S3 server), real clients and separate processes. A case of lane 1 is repeated only if these
 * can change its result.
 */
export default defineConfig({
  test: {
    ...common,
    globalSetup: [...(common.globalSetup ?? []), 'test/support/object-store.ts'],
    // These tests wait for about half of their time. With more workers, they wait for the CPU time of each other.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'one process',
          include: [
            ...[...STOPS, ...CRASHES, 'test/edge/{stream,malformed-requests}.test.ts'],
            'test/real/{,products/,protocols/,protocols/mcp/,protocols/openai/,protocols/a2a/}*.test.ts',
          ],
          exclude: SEPARATE_PROCESSES,
          env: { ...ON_REAL_BACKENDS, SERVICE_TEST_SHAPE: 'one process' },
        },
      },
      {
        extends: true,
        test: {
          name: 'console',
          include: ['test/real/console/*.test.ts'],
          isolate: false,
          env: { ...ON_REAL_BACKENDS, SERVICE_TEST_SHAPE: 'one process' },
        },
      },
      {
        extends: true,
        test: {
          name: 'a process per target',
          include: [...STOPS, ...SEPARATE_PROCESSES],
          env: { ...ON_REAL_BACKENDS, SERVICE_TEST_SHAPE: 'a process per target' },
        },
      },
      {
        extends: true,
        test: {
          name: 'embedded backends',
          include: PROGRAMS,
          isolate: false,
          env: { ...embedded.test?.env },
        },
      },
      {
        extends: true,
        test: {
          name: 'plain gRPC',
          include: CONTRACTS,
          isolate: false,
          env: { ...embedded.test?.env, SERVICE_TEST_TRANSPORT: 'gRPC' },
        },
      },
    ],
  },
});
