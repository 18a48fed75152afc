import { join } from 'node:path';
import type { Bus } from '../../lib/bus/bus.ts';
import { createLocalBus } from '../../lib/bus/local.ts';
import { createLocalRateLimiter } from '../../lib/bus/local-rate-limiter.ts';
import type { RateLimiter } from '../../lib/bus/rate-limiter.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { createIds } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { LogCopy } from '../../lib/log-copy.ts';
import { createProcessMetrics, type Metrics } from '../../lib/metrics.ts';
import type { Backend, ModuleManager } from '../../lib/modules.ts';
import { ReservedSpace } from '../../lib/reserved-space.ts';
import type { SealingKeySource } from '../../lib/sealing.ts';
import { readExistingSecret, readOrCreateSecret } from '../../lib/secrets.ts';
import type { ServiceContext } from '../../lib/service.ts';
import { openTelemetry } from '../../lib/telemetry/open.ts';
import { embeddedDatabase } from './database.ts';
import type { ProcessConfig } from './process-config.ts';
import { createRpcObserver } from './rpc-observer.ts';
import { type ModuleName, modulesOf } from './target.ts';
import { telemetryOptions } from './telemetry-config.ts';

/** The shared infrastructure of the modules of a process. */
export interface Infrastructure {
  clock: Clock;
  log: Log;
  /** Returns the context with which a module is opened. */
  contextOf(module: ModuleName): ServiceContext;
  sealingKeys: SealingKeySource;
  metrics: Metrics;
  /** The locked data directory of this process; only target all has one. */
  dataDir: string | undefined;
  backends: Backend[];
}

/** Opens the database, bus, rate limiter, secrets, metrics and telemetry. `dataDir` is the locked data directory of target all; `logCopy` gets the log lines to export. */
export async function openInfrastructure(
  config: ProcessConfig,
  modules: ModuleManager,
  log: Log,
  dataDir: string | undefined,
  logCopy?: LogCopy,
): Promise<Infrastructure> {
  const { databaseUrl, redisUrl, serviceSecret, sealingKey } = config.common;
  const clock: Clock = systemClock;
  const metrics = createProcessMetrics({ histograms: config.common.metricsHistograms });
  // Opened first, so that it is stopped last and delivers the last spans and log lines of the other modules.
  const telemetry = await modules.start(
    openTelemetry({ ...telemetryOptions(config.common, config.target), clock, log, logCopy, metrics }),
  );
  const database =
    databaseUrl === undefined && dataDir !== undefined
      ? await modules.start(embeddedDatabase(dataDir, log))
      : undefined;
  const reservedSpace =
    database && dataDir !== undefined
      ? await modules.start(openReservedSpace(dataDir, clock, log))
      : undefined;
  const bus = await openBus(redisUrl, clock, log);
  // A lost hint delays work and loses nothing.
  modules.add({ name: 'hints', check: () => bus.check(), isOptional: true, stop: () => bus.close() });
  const { requestsPerMinute, loginsPerMinute } = config.auth;
  const isCounted =
    modulesOf(config.target).includes('auth') && (requestsPerMinute > 0 || loginsPerMinute > 0);
  const rateLimiter = await openRateLimiter(isCounted ? redisUrl : undefined, clock, log);
  modules.add({ name: 'rate limiter', stop: () => rateLimiter.close() });
  const databaseBackend: Backend = {
    role: 'database',
    description: database ? 'PostgreSQL 18, embedded' : 'PostgreSQL at SERVICE_DATABASE_URL',
  };
  const schemas: string[] = [];
  const { description } = databaseBackend;
  const onSharedLogin = (schema: string) => {
    schemas.push(schema);
    databaseBackend.description = `${description}, under its login: ${schemas.join(', ')} cannot use their own logins`;
  };
  const secretOf = async (given: string | undefined, name: string) =>
    given ?? (dataDir === undefined ? '' : await readOrCreateSecret(dataDir, name));
  const context = {
    clock,
    ids: createIds(clock),
    log,
    bus,
    rateLimiter,
    databaseUrl: database?.url ?? databaseUrl ?? '',
    serviceSecret: await secretOf(serviceSecret, 'service-secret'),
    singleUser: config.common.authMode === 'local',
    onSharedLogin,
    observe: createRpcObserver(metrics, log),
    metrics,
    reservedSpace,
  };
  return {
    clock,
    log,
    contextOf: (module) => ({
      ...context,
      tracer: telemetry.tracer(module),
      callerRules: (config.common.callerRules ?? []).filter(({ service }) => service === module),
    }),
    sealingKeys: sealingKeysOf(sealingKey, dataDir),
    metrics,
    dataDir,
    backends: [
      databaseBackend,
      {
        role: 'hints',
        description: redisUrl ? 'Redis at SERVICE_REDIS_URL' : 'in this process (instead of Redis)',
      },
      { role: 'models', description: 'rehearsal/echo, rehearsal/script, rehearsal/shell (no key needed)' },
      { role: 'identity', description: identityIn(config) },
    ],
  };
}

/** A key is created only for a database without sealed secrets, because no other key can open them. */
function sealingKeysOf(given: string | undefined, dataDir: string | undefined): SealingKeySource {
  const name = 'sealing-key';
  return {
    read: async () => given ?? (dataDir === undefined ? undefined : readExistingSecret(dataDir, name)),
    async create() {
      if (dataDir === undefined)
        throw new Error('SERVICE_SEALING_KEY is not set, and the settings were not checked');
      return readOrCreateSecret(dataDir, name);
    },
  };
}

function openReservedSpace(dataDir: string, clock: Clock, log: Log): Promise<ReservedSpace> {
  const onFailure = (error: unknown) => log.warn({ err: error }, 'the reserved disk space cannot be written');
  return ReservedSpace.open({ path: join(dataDir, 'reserved-space'), clock, onFailure });
}

function identityIn({ common: { authMode }, auth: { issuer } }: ProcessConfig): string {
  if (authMode === 'local')
    return 'local mode: every client that can reach this address is the administrator';
  return issuer === undefined ? 'users of an identity provider' : `users of ${issuer}`;
}

/** Loads the Redis driver only when it is needed, because loading takes time. */
async function openBus(redisUrl: string | undefined, clock: Clock, log: Log): Promise<Bus> {
  const onError = (error: unknown) => log.warn({ err: error }, 'a hint was lost');
  if (redisUrl === undefined) return createLocalBus(onError);
  const { createRedisBus } = await import('../../lib/bus/redis.ts');
  return createRedisBus({ url: redisUrl, clock, onError });
}

/** Uses Redis only when limits are enabled. A failing rate limiter never makes the process unready. */
async function openRateLimiter(redisUrl: string | undefined, clock: Clock, log: Log): Promise<RateLimiter> {
  if (redisUrl === undefined) return createLocalRateLimiter(clock);
  const { createRedisRateLimiter } = await import('../../lib/bus/redis-rate-limiter.ts');
  const onError = (error: unknown) =>
    log.warn({ err: error }, 'rate limits cannot use Redis; each process counts for itself');
  return createRedisRateLimiter({ url: redisUrl, clock, onError });
}
