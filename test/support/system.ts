import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../lib/clock.ts';
import type { SettingProblem } from '../../lib/env.ts';
import { createLog } from '../../lib/log.ts';
import { House } from '../../lib/modules.ts';
import { layGround } from '../../services/house/ground.ts';
import { openModules } from '../../services/house/open.ts';
import { readPlan } from '../../services/house/plan.ts';
import { bucketSettings } from './bucket.ts';
import { createDatabase } from './database.ts';
import { startFleet } from './fleet.ts';
import { realLane } from './lane.ts';
import { startRedis } from './redis.ts';
import { scratch } from './scratch.ts';
import { shape } from './shape.ts';

export interface System extends AsyncDisposable {
  /** Where the edge listens, without a slash at the end. */
  url: string;
  databaseUrl: string;
}

const SECRETS = {
  SERVICE_SECRET: 'a service secret for tests that is long enough',
  SERVICE_SEALING_KEY: 'a sealing key for tests that is long enough too',
};

/**
 * The whole system in the shape that the run of the tests asks for, on a database of its own and free ports:
 * target all in this process, or every target in a process of its own. In the lane of real backends its hints
 * go through a Redis of its own.
 */
export async function startSystem(settings: Record<string, string> = {}): Promise<System> {
  if (shape === 'one process') return startInside(settings);
  const fleet = await startFleet(settings);
  return { ...fleet, url: fleet.api.origin };
}

async function startInside(settings: Record<string, string>): Promise<System> {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await createDatabase());
  const redis = realLane ? stack.use(await startRedis()) : undefined;
  const problems: SettingProblem[] = [];
  const env = {
    SERVICE_PORT: '0',
    SERVICE_DATABASE_URL: database.url,
    SERVICE_LOG_LEVEL: 'warn',
    ...(redis ? { SERVICE_REDIS_URL: redis.url, ...bucketSettings() } : {}),
    ...SECRETS,
    ...settings,
  };
  const plan = readPlan('all', env, problems);
  if (problems.length > 0)
    throw new Error(problems.map((one) => `${one.variable} ${one.problem}`).join('\n'));
  const log = createLog({ level: plan.house.logLevel, pretty: false });
  const house = new House(systemClock, (message, error) => log.warn({ err: error }, message));
  const directory = await mkdtemp(join(scratch(), 'ahs-test-data-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  stack.defer(() => house.stop());
  const ground = await layGround(plan, house, log, directory);
  const url = await openModules(plan, house, ground);
  if (!url) throw new Error('the system has no edge');
  return { url, databaseUrl: database.url, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
