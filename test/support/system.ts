import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { McpServerFactory } from '@modelcontextprotocol/server';
import { systemClock } from '../../lib/clock.ts';
import type { SettingProblem } from '../../lib/env.ts';
import { createLog } from '../../lib/log.ts';
import { ModuleManager } from '../../lib/modules.ts';
import { openInfrastructure } from '../../services/bootstrap/infrastructure.ts';
import { openModules } from '../../services/bootstrap/open.ts';
import { readProcessConfig } from '../../services/bootstrap/process-config.ts';
import type { Tool } from '../../services/runner/tools/tool.ts';
import { bucketSettings } from './bucket.ts';
import { createDatabase } from './database.ts';
import { startFleet } from './fleet.ts';
import { realLane } from './lane.ts';
import { startRedis } from './redis.ts';
import { scratch } from './scratch.ts';
import { shape } from './shape.ts';

export interface System extends AsyncDisposable {
  /** The origin of the edge, without a trailing slash. */
  url: string;
  databaseUrl: string;
}

const SECRETS = {
  SERVICE_SECRET: 'a service secret for tests that is long enough',
  SERVICE_SEALING_KEY: 'a sealing key for tests that is long enough too',
};

/**
 * Starts the whole system in the shape of the test run, on a new database and free ports: target all in this process, or one
 * process per target. In lane 2 it has a Redis server of its own.
 */
export async function startSystem(settings: Record<string, string> = {}): Promise<System> {
  if (shape === 'one process') return startInProcess(settings);
  const fleet = await startFleet(settings);
  return { ...fleet, url: fleet.api.origin };
}

/** Starts target all in this process. The runner has `tools` in addition to the built-in ones. */
export async function startInProcess(
  settings: Record<string, string>,
  tools: readonly Tool[] = [],
  options: { mcpServerFactory?: McpServerFactory } = {},
): Promise<System> {
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
  const config = readProcessConfig('all', env, problems);
  if (problems.length > 0)
    throw new Error(problems.map((one) => `${one.variable} ${one.problem}`).join('\n'));
  const log = createLog({ level: config.common.logLevel });
  const modules = new ModuleManager(systemClock, (message, error) => log.warn({ err: error }, message));
  const directory = await mkdtemp(join(scratch(), 'ahs-test-data-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  stack.defer(() => modules.stop());
  const infrastructure = await openInfrastructure(config, modules, log, directory);
  const url = await openModules(config, modules, infrastructure, { tools, ...options });
  if (!url) throw new Error('the system has no edge');
  return { url, databaseUrl: database.url, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
