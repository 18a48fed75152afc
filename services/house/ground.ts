import type { Bus } from '../../lib/bus/bus.ts';
import type { Counters } from '../../lib/bus/counters.ts';
import { createLocalBus } from '../../lib/bus/local.ts';
import { createLocalCounters } from '../../lib/bus/local-counters.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { createIds } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { createProcessMetrics, type Metrics } from '../../lib/metrics.ts';
import type { House, StandIn } from '../../lib/modules.ts';
import { keptSecret } from '../../lib/secrets.ts';
import type { ServiceContext } from '../../lib/service.ts';
import { openTelemetry } from '../../lib/telemetry/open.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { embeddedDatabase } from './database.ts';
import { createObserver } from './observer.ts';
import type { Plan } from './plan.ts';
import { type ModuleName, modulesOf } from './target.ts';

/** What the modules of a process stand on. */
export interface Ground {
  /** What a module is opened with. */
  contextOf(module: ModuleName): ServiceContext;
  sealingKey: string;
  metrics: Metrics;
  /** Where this process alone keeps what it needs; only target all has one. */
  dataDir: string | undefined;
  standIns: StandIn[];
}

/** Lays the ground: database, hints, secrets, metrics. `dataDir` is the held data directory of target all. */
export async function layGround(
  plan: Plan,
  house: House,
  log: Log,
  dataDir: string | undefined,
): Promise<Ground> {
  const { databaseUrl, redisUrl, serviceSecret, sealingKey } = plan.house;
  const clock: Clock = systemClock;
  const metrics = createProcessMetrics();
  // Opened first, so that it is stopped last and delivers what the others still have to tell.
  const telemetry = await house.start(
    openTelemetry({ ...telemetryOptions(plan.house), clock, log, metrics }),
  );
  const database =
    databaseUrl === undefined && dataDir !== undefined
      ? await house.start(embeddedDatabase(dataDir, log))
      : undefined;
  const bus = await openBus(redisUrl, clock, log);
  house.add({ name: 'hints', check: () => bus.check(), stop: () => bus.close() });
  const { requestsPerMinute, loginsPerMinute } = plan.auth;
  const isCounted = modulesOf(plan.target).includes('auth') && (requestsPerMinute > 0 || loginsPerMinute > 0);
  const counters = await openCounters(isCounted ? redisUrl : undefined, clock, log);
  house.add({ name: 'counters', stop: () => counters.close() });
  const databaseInForce: StandIn = {
    role: 'database',
    inForce: database ? 'PostgreSQL 18, embedded' : 'PostgreSQL at SERVICE_DATABASE_URL',
  };
  const sharing: string[] = [];
  const { inForce } = databaseInForce;
  const sharesLogin = (schema: string) => {
    sharing.push(schema);
    databaseInForce.inForce = `${inForce}, under its login: ${sharing.join(', ')} cannot log in as themselves`;
  };
  const secretOf = async (given: string | undefined, name: string) =>
    given ?? (dataDir === undefined ? '' : await keptSecret(dataDir, name));
  const context = {
    clock,
    ids: createIds(clock),
    log,
    bus,
    counters,
    databaseUrl: database?.url ?? databaseUrl ?? '',
    serviceSecret: await secretOf(serviceSecret, 'service-secret'),
    oneUser: plan.house.authMode === 'local',
    sharesLogin,
    observe: createObserver(metrics, log),
    metrics,
  };
  return {
    contextOf: (module) => ({ ...context, tracer: telemetry.tracer(module) }),
    sealingKey: await secretOf(sealingKey, 'sealing-key'),
    metrics,
    dataDir,
    standIns: [
      databaseInForce,
      {
        role: 'hints',
        inForce: redisUrl ? 'Redis at SERVICE_REDIS_URL' : 'within this process (stands in for Redis)',
      },
      { role: 'models', inForce: 'rehearsal/echo, rehearsal/script, rehearsal/shell (no key needed)' },
      { role: 'identity', inForce: identityIn(plan) },
    ],
  };
}

function identityIn({ house: { authMode }, auth: { issuer } }: Plan): string {
  if (authMode === 'local') return 'local mode: whoever reaches this machine is its administrator';
  return issuer === undefined ? 'users of an identity provider' : `users of ${issuer}`;
}

/** The driver of Redis is loaded only where it is needed, as that takes a while. */
async function openBus(redisUrl: string | undefined, clock: Clock, log: Log): Promise<Bus> {
  const onError = (error: unknown) => log.warn({ err: error }, 'a hint went astray');
  if (redisUrl === undefined) return createLocalBus(onError);
  const { createRedisBus } = await import('../../lib/bus/redis.ts');
  return createRedisBus({ url: redisUrl, clock, onError });
}

/** They need Redis only where something is counted, and are never a reason not to be ready. */
async function openCounters(redisUrl: string | undefined, clock: Clock, log: Log): Promise<Counters> {
  if (redisUrl === undefined) return createLocalCounters(clock);
  const { createRedisCounters } = await import('../../lib/bus/redis-counters.ts');
  const onError = (error: unknown) =>
    log.warn({ err: error }, 'limits cannot be counted in Redis; each process counts for itself');
  return createRedisCounters({ url: redisUrl, clock, onError });
}

function telemetryOptions(house: Plan['house']) {
  return {
    endpoint: house.otlpEndpoint,
    headers: house.otlpHeaders ?? {},
    protocol: house.otlpProtocol,
    sampler: house.tracesSampler,
    samplerRatio: house.tracesSamplerRatio,
    serviceName: house.otelServiceName,
    resourceAttributes: house.otelResourceAttributes ?? {},
    version: packageJson.version,
  };
}
