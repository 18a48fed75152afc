import { openSchema } from '../../../../lib/db/schema.ts';
import { createClient } from '../../../../lib/grpc/client.ts';
import { localTransport } from '../../../../lib/grpc/local.ts';
import { createIds } from '../../../../lib/ids.ts';
import type { ServiceContext } from '../../../../lib/service.ts';
import { AgentsServiceDefinition } from '../../../../proto/gen/ahs/agents/v1/agents.ts';
import { AuthServiceDefinition } from '../../../../proto/gen/ahs/auth/v1/auth.ts';
import { FilesServiceDefinition } from '../../../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { compileTiming } from '../../../../services/deployments/domain/schedules/timing.ts';
import { createCompiledTimings } from '../../../../services/deployments/schedules/compiled-timings.ts';
import { createFire } from '../../../../services/deployments/schedules/fire.ts';
import { createScheduleMetrics } from '../../../../services/deployments/schedules/metrics.ts';
import { openDeployments } from '../../../../services/deployments/service.ts';
import { createSchedulerStores } from '../../../../services/deployments/store/scheduler.ts';
import { openSessions } from '../../../../services/sessions/service.ts';
import { createContext } from '../../../support/context.ts';
import { FakeAuth } from '../../../support/fake-auth.ts';
import { fakeService } from '../../../support/fake-service.ts';
import { identity } from '../../../support/identity.ts';
import { type Bench, pause, type Spread } from '../../bench.ts';
import type { BenchDatabase } from '../../subjects/postgres.ts';

export interface Schedules {
  /** Through the first commit. */
  firesPerSecond: number;
  /** From the due time to the committed session, with many due at once. */
  lateness: Spread;
  idleQueriesPerSecond: number;
  /** One expression: parsed, and its next time. */
  nextTimeUs: number;
}

const STORED = 1_000_000;
const DUE = 20_000;
const AT_ONCE = 1_000;
const OWNERS = 100;
const EXPRESSIONS = 2_000;
const IDLE_MS = 10_000;
const LIMIT_MS = 120_000;
const AGENT = 'agt_01M7XYC91CC5TE06JQWDWRTJVA';
const CONFIG = {
  ...{ pool: 8, windowSeconds: 300, maxBodyBytes: 1_024 },
  ...{ scheduleMinIntervalSeconds: 60, scheduleBatch: 500, runHistoryDays: 400 },
};
const SESSIONS = {
  ...{ pool: 8, leaseSeconds: 600, approvalTtlSeconds: 600, maxFailures: 2, maxTurnsPerAgent: 1_000_000 },
  ...{ quotaTurnsPerDay: 0, purgeAfterSeconds: 3_600 },
};

/** w': the schedules of the deployments service and the sessions service, in this process. */
export async function measureSchedules(bench: Bench): Promise<Schedules> {
  const nextTimeUs = measureNextTime();
  bench.print("w'", `next time of an expression: ${nextTimeUs.toFixed(1)} µs`);
  await using database = await bench.postgres.createDatabase();
  const context = createContext(database.url);
  const stored = Math.ceil(STORED * bench.scale);
  const due = Math.ceil(DUE * bench.scale);
  const close = await openServices(context);
  await insert(database, stored, "now() + interval '1 day'", 1);
  await close();
  await insert(database, due, "date_trunc('minute', now()) - interval '1 minute'", 2);
  const firesPerSecond = await measureFires(context, due);
  bench.print("w'", `fires with ${stored} stored schedules: ${Math.round(firesPerSecond)}/s`);
  // The runs of the fires do not start.
  await database.run('delete from deployments.runs');
  const stop = await openServices(context);
  try {
    const idleQueriesPerSecond = await measureIdle(context);
    bench.print("w'", `idle: ${idleQueriesPerSecond.toFixed(2)} queries/s`);
    const lateness = await measureLateness(database);
    bench.print("w'", `${AT_ONCE} due at once: p50 ${lateness.p50Ms} ms, p99 ${lateness.p99Ms} ms`);
    return { firesPerSecond, lateness, idleQueriesPerSecond, nextTimeUs };
  } finally {
    await stop();
  }
}

/** Microseconds to parse an expression and find its next time. */
function measureNextTime(): number {
  const now = new Date();
  const bounds = { everySeconds: null, at: null, startAt: null, endAt: null };
  const dst = { missing: 'shift', repeated: 'first' } as const;
  const startedAt = performance.now();
  for (let index = 0; index < EXPRESSIONS; index++) {
    const cron = `${index % 60} ${index % 24} * * ${index % 7}`;
    compileTiming({ ...bounds, kind: 'cron', cron, timezone: 'Europe/Berlin', dst }, now).after(now);
  }
  return ((performance.now() - startedAt) * 1_000) / EXPRESSIONS;
}

/** Opens both services with fakes of the others. Returns a function that stops them. */
async function openServices(context: ServiceContext): Promise<() => Promise<void>> {
  const { serviceSecret: secret, clock } = context;
  const agents = (self: string) =>
    fakeService(
      AgentsServiceDefinition,
      { resolveAgent: async () => ({ agentId: AGENT, version: 1 }) },
      self,
      context,
    );
  const user = async ({ userId }: { userId: string }) => ({
    user: identity({ userId, roles: ['member'], enabled: true }).user,
  });
  const auth = fakeService(AuthServiceDefinition, { getUser: user }, 'deployments', context);
  const files = fakeService(FilesServiceDefinition, {}, 'sessions', context);
  const sessions = await openSessions(context, SESSIONS, {
    agents: agents('sessions'),
    files,
    auth: new FakeAuth(),
  });
  const client = createClient({
    ...{ contract: SessionsServiceDefinition, self: 'deployments', secret, clock },
    transport: localTransport(sessions.endpoint),
  });
  const key = async () => 'the sealing key of the services under test';
  const keys = { read: key, create: key };
  const clients = { agents: agents('deployments'), auth, sessions: client };
  const deployments = await openDeployments(context, CONFIG, clients, keys, () => '');
  return async () => {
    await deployments.stop();
    await sessions.stop();
  };
}

/** Inserts schedules of many owners whose next time is the SQL expression `at`. The ids begin with a digit. */
async function insert(database: BenchDatabase, count: number, at: string, prefix: number): Promise<void> {
  const id = `'dep_${prefix}' || lpad(i::text, 25, '0')`;
  const owner = `'usr_' || lpad((i % ${OWNERS})::text, 26, '0')`;
  const digest = `sha256(convert_to('Do the work.', 'UTF8'))`;
  await database.run(`
    insert into deployments.deployments (deployment_id, created_by, agent_id, type, status, created_at, updated_at)
      select ${id}, ${owner}, '${AGENT}', 'schedule', 'enabled', now(), now() from generate_series(1, ${count}) i;
    insert into deployments.schedules (deployment_id, owner_id, kind, expression, timezone, dst_missing, dst_repeated,
        jitter_seconds, overlap, catch_up_seconds, session_mode, session_is_given, prompt_digest,
        pause_after_failures, count_failed_turns, next_at, due_at)
      select ${id}, ${owner}, 'cron', i % 60 || ' ' || i % 24 || ' * * *', 'Europe/Berlin', 'shift', 'first', 0,
        'skip', 3600, 'new', false, ${digest}, 5, false, ${at}, ${at} from generate_series(1, ${count}) i;
    insert into deployments.prompts (deployment_id, digest, text)
      select ${id}, ${digest}, 'Do the work.' from generate_series(1, ${count}) i`);
  await database.run('analyze deployments.schedules');
}

/** Fires per second of the first commit, without the starts. */
async function measureFires(context: ServiceContext, due: number): Promise<number> {
  const { clock, log, metrics, tracer } = context;
  const migrations = new URL('../../../../services/deployments/migrations', import.meta.url);
  const db = await openSchema({ ...context, schema: 'deployments', migrations, pool: CONFIG.pool });
  const { fires } = createSchedulerStores(db);
  const fire = createFire({
    ...{ store: fires, clock, log, tracer, ids: createIds(clock), batch: CONFIG.scheduleBatch },
    timings: createCompiledTimings(),
    turns: { lookUp: async () => {} },
    metrics: createScheduleMetrics(metrics),
  });
  try {
    const startedAt = performance.now();
    let fired = 0;
    for (let count = await fire.fireDue(); count > 0; count = await fire.fireDue()) fired += count;
    if (fired !== due) throw new Error(`${fired} schedules were fired instead of ${due}`);
    return (fired * 1_000) / (performance.now() - startedAt);
  } finally {
    await db.close();
  }
}

/** Statements of the deployments service while nothing is due. */
async function measureIdle({ metrics }: ServiceContext): Promise<number> {
  const count = async () => {
    const counts = (await metrics.text()).matchAll(STATEMENT_COUNTS);
    return [...counts].reduce((sum, [, value]) => sum + Number(value), 0);
  };
  const before = await count();
  await pause(IDLE_MS);
  return ((await count()) - before) / (IDLE_MS / 1_000);
}

const STATEMENT_COUNTS = /^ahs_db_statement_duration_seconds_count\{schema="deployments"[^}]*\} (\d+)$/gm;

async function measureLateness(database: BenchDatabase): Promise<Spread> {
  await insert(database, AT_ONCE, "now() + interval '2 seconds'", 3);
  const started = `select count(*) from deployments.runs where status = 'running'`;
  const end = performance.now() + LIMIT_MS;
  while (((await database.queryRow(started))[0] ?? 0) < AT_ONCE) {
    const [failed = 0] = await database.queryRow(
      `select count(*) from deployments.runs where status = 'failed' or attempts > 0`,
    );
    if (failed > 0) throw new Error(`${failed} runs could not start`);
    if (performance.now() > end) throw new Error('the schedules have not started');
    await pause(50);
  }
  const share = (fraction: number) => `percentile_disc(${fraction}) within group (order by lateness_ms)`;
  const [p50Ms = Number.NaN, p99Ms = Number.NaN] = await database.queryRow(
    `select ${share(0.5)}, ${share(0.99)} from deployments.runs where status = 'running'`,
  );
  return { p50Ms, p99Ms };
}
