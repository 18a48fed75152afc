import { Histogram, Registry } from 'prom-client';
import type { Bus } from '../../lib/bus/bus.ts';
import { createLocalBus } from '../../lib/bus/local.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import type { Observation } from '../../lib/grpc/transport.ts';
import { createIds } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { House, StandIn } from '../../lib/modules.ts';
import { keptSecret } from '../../lib/secrets.ts';
import type { ServiceContext } from '../../lib/service.ts';
import { embeddedDatabase } from './database.ts';
import type { Plan } from './plan.ts';

/** What the modules of a process stand on. */
export interface Ground {
  context: ServiceContext;
  sealingKey: string;
  metrics: Registry;
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
  const metrics = new Registry();
  const database =
    databaseUrl === undefined && dataDir !== undefined
      ? await house.start(embeddedDatabase(dataDir, log))
      : undefined;
  const bus = await openBus(redisUrl, clock, log);
  house.add({ name: 'hints', check: () => bus.check(), stop: () => bus.close() });
  const secretOf = async (given: string | undefined, name: string) =>
    given ?? (dataDir === undefined ? '' : await keptSecret(dataDir, name));
  return {
    context: {
      clock,
      ids: createIds(clock),
      log,
      bus,
      databaseUrl: database?.url ?? databaseUrl ?? '',
      serviceSecret: await secretOf(serviceSecret, 'service-secret'),
      observe: createObserver(metrics, log),
    },
    sealingKey: await secretOf(sealingKey, 'sealing-key'),
    metrics,
    standIns: [
      {
        role: 'database',
        inForce: database ? 'PostgreSQL 18, embedded' : 'PostgreSQL at SERVICE_DATABASE_URL',
      },
      {
        role: 'hints',
        inForce: redisUrl ? 'Redis at SERVICE_REDIS_URL' : 'within this process (stands in for Redis)',
      },
      { role: 'models', inForce: 'rehearsal/echo, rehearsal/script (no key needed)' },
      { role: 'identity', inForce: 'local mode: whoever reaches this machine is its administrator' },
    ],
  };
}

/** The driver of Redis is loaded only where it is needed, as that takes a while. */
async function openBus(redisUrl: string | undefined, clock: Clock, log: Log): Promise<Bus> {
  const onError = (error: unknown) => log.warn({ err: error }, 'a hint went astray');
  if (redisUrl === undefined) return createLocalBus(onError);
  const { createRedisBus } = await import('../../lib/bus/redis.ts');
  return createRedisBus({ url: redisUrl, clock, onError });
}

const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

function createObserver(metrics: Registry, log: Log) {
  const durations = new Histogram({
    name: 'ahs_rpc_duration_seconds',
    help: 'Calls between services, by how they ended.',
    labelNames: ['service', 'method', 'code'],
    buckets: BUCKETS,
    registers: [metrics],
  });
  return ({ service, method, code, durationMs, peer, caller, traceId, cause }: Observation): void => {
    durations.observe({ service, method, code }, durationMs / 1_000);
    const facts = { service, method, code, peer, user_id: caller?.userId, trace_id: traceId, err: cause };
    if (code === 'INTERNAL') log.error(facts, 'a call failed unexpectedly');
    else if (code === 'DEPENDENCY_UNAVAILABLE' || code === 'STORAGE_FULL') log.warn(facts, 'a call failed');
  };
}
