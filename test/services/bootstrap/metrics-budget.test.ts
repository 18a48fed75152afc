import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { createRequestMetrics } from '../../../edge/plugins/request-metrics.ts';
import { systemClock } from '../../../lib/clock.ts';
import { createSchemaObserver, reportPools } from '../../../lib/db/observer.ts';
import { ERRORS } from '../../../lib/error-codes.ts';
import { createLog } from '../../../lib/log.ts';
import { createProcessMetrics, type Metrics } from '../../../lib/metrics.ts';
import { silentTracer } from '../../../lib/telemetry/tracer.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { DeploymentsServiceDefinition } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { servedRoutes } from '../../../scripts/reference/access.ts';
import { createRpcObserver } from '../../../services/bootstrap/rpc-observer.ts';
import { createRunnerMetrics } from '../../../services/runner/loop/metrics.ts';
import { createSessionCounters, startGauges } from '../../../services/sessions/metrics.ts';

const MAX_SERIES = 1_500;
const MAX_BYTES = 150_000;

const SERVICES = {
  AgentsService: AgentsServiceDefinition,
  AuthService: AuthServiceDefinition,
  DeploymentsService: DeploymentsServiceDefinition,
  FilesService: FilesServiceDefinition,
  SessionsService: SessionsServiceDefinition,
  VaultsService: VaultsServiceDefinition,
};
const SANDBOX_STATES = ['provisioning', 'ready', 'suspended', 'restoring', 'lost', 'released'];
const SCHEMAS = ['agents', 'auth', 'deployments', 'files', 'sessions', 'vaults'];
const GROUPS = ['acts', 'lookups', 'creations', 'changes', 'reports', 'tails', 'later'];
const log = createLog({ level: 'silent' });
const CODES = Object.keys(ERRORS);
const STATUSES = [...new Set(Object.values(ERRORS).map(({ status }) => status))];
/** A value with many digits, as durations are. */
const SECONDS = 12.345_678_9;

const CALL = {
  request: {},
  peer: 'edge',
  caller: undefined,
  durationMs: SECONDS,
  traceId: '',
  spanId: '',
  requestId: undefined,
};

/** The names of all statements in the sources of a folder. */
async function statementsIn(folder: string): Promise<string[]> {
  const root = new URL(`../../../${folder}/`, import.meta.url);
  const files = (await readdir(root, { recursive: true })).filter((name) => name.endsWith('.ts'));
  const texts = await Promise.all(files.map((name) => readFile(new URL(name, root), 'utf8')));
  return texts.flatMap((text) =>
    Array.from(text.matchAll(/\bstatement\(\s*'([\w.]+)'/g), ([, name = '']) => name),
  );
}

async function useDatabase(metrics: Metrics): Promise<number> {
  const shared = await statementsIn('lib/db');
  let statements = 0;
  for (const schema of SCHEMAS) {
    const observer = createSchemaObserver({ schema, tracer: silentTracer, metrics });
    const own = await statementsIn(`services/${schema}`);
    for (const name of new Set([...own, ...shared, 'commit'])) {
      statements++;
      for (let run = 0; run < 3; run++) await observer.statement(name, undefined, async () => {});
    }
    reportPools([{ totalCount: 16, idleCount: 3, waitingCount: 0 }], schema, metrics);
  }
  const observer = createSchemaObserver({ schema: 'sessions', tracer: silentTracer, metrics });
  for (const name of GROUPS) observer.group(name, () => 0).sizes.observe(3);
  return statements;
}

async function useRoutes(metrics: Metrics): Promise<void> {
  const record = createRequestMetrics(metrics);
  const kind = 'read';
  for (const { method, path } of await servedRoutes()) {
    const route = path.replace(/\{(\w+)\}/g, ':$1');
    for (const status of [200, 201, 204, 304, ...STATUSES])
      record({ method, route, status, seconds: SECONDS, kind });
  }
  for (const kind of ['trigger', 'write'] as const)
    record({ method: 'POST', route: '/', status: 404, seconds: SECONDS, kind });
}

function useRpcs(metrics: Metrics): void {
  const observe = createRpcObserver(metrics, log);
  for (const [service, { methods }] of Object.entries(SERVICES))
    for (const method of Object.keys(methods))
      for (const code of ['OK', ...CODES]) observe({ ...CALL, service, method, code });
}

function useModelsAndTools(metrics: Metrics): void {
  const { modelRequest, toolCall } = createRunnerMetrics(metrics);
  for (let index = 0; index < 1_000; index++) {
    const provider = ['anthropic', 'openai', 'rehearsal'][index % 3] ?? '';
    const request = { provider, model: `${provider}/some-large-model-2026-01-${index}`, isTimeout: false };
    const tokens = { hasUsage: true, inputTokens: 12_345, outputTokens: 123 };
    const details = {
      cacheReadTokens: 5,
      cacheWriteTokens: 4,
      reasoningTokens: 6,
      responseId: '',
      responseModel: '',
    };
    const end = {
      kind: 'finished' as const,
      finishReason: 'stop' as const,
      content: [],
      ...tokens,
      ...details,
    };
    modelRequest({ ...request, end, durationMs: SECONDS, timeToFirstTextMs: SECONDS });
    const failure = { code: `model_failure_${index % 12}`, message: '', isRetryable: false, delayMs: 0 };
    const failed = { kind: 'failed' as const, hasBegun: false, failure, cause: undefined };
    modelRequest({ ...request, end: failed, durationMs: SECONDS, timeToFirstTextMs: undefined });
    for (const outcome of ['succeeded', 'failed', 'timed_out', 'stopped', 'lost', 'not_run'] as const)
      toolCall(`tool_number_${index}`, outcome);
  }
}

async function useSessions(metrics: Metrics): Promise<void> {
  const counters = createSessionCounters(metrics);
  counters.claimed(1);
  counters.leaseLost();
  const states = SANDBOX_STATES.map((state) => ({ state, count: 1 }));
  const work = { queuedTurns: 1, oldestReadyAt: undefined, pendingApprovals: 1, sandboxes: states };
  const gauges = startGauges({
    measure: async () => work,
    countFollowers: () => 1,
    metrics,
    clock: systemClock,
    log,
  });
  await gauges.stop();
}

describe('/metrics', () => {
  it('has at most 1,500 series and 150 KB after every route, statement, call, model and tool was used', async () => {
    const metrics = createProcessMetrics();
    expect(await useDatabase(metrics)).toBeGreaterThan(200);
    await useRoutes(metrics);
    useRpcs(metrics);
    useModelsAndTools(metrics);
    await useSessions(metrics);
    const text = await metrics.text();
    const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    // Counters of rare events, such as each result of a webhook, and Node's kinds of resources and garbage collections.
    const unused = 100;
    expect(series.length).toBeLessThanOrEqual(MAX_SERIES - unused);
    expect(text.length).toBeLessThanOrEqual(MAX_BYTES - unused * 70);
  });
});
