import { createServer } from 'node:net';
import { DirectoryProblem, type LockedDirectory, lockDirectory } from '../../lib/directory.ts';
import type { SettingProblem } from '../../lib/env.ts';
import { CALLER_RULES, problemOfRules } from '../../lib/grpc/caller-rules.ts';
import { directoryProblem } from './directory-problem.ts';
import { checkModelsFile } from './models.ts';
import type { ProcessConfig } from './process-config.ts';
import { DATABASE_MODULES, modulesOf } from './target.ts';
import { checkTls } from './tls.ts';

/**
 * Locks the data directory and checks the ports, the TLS files, the file with models, the database and the caller rules, so that all their
 * problems are reported together. Returns the locked directory.
 */
export async function preflight(
  config: ProcessConfig,
  problems: SettingProblem[],
): Promise<LockedDirectory | undefined> {
  const isValid = (...variables: string[]) => !problems.some(({ variable }) => variables.includes(variable));
  const modules = modulesOf(config.target);
  const usesDatabase = modules.some((name) => DATABASE_MODULES.includes(name));
  const { databaseUrl, dataDir, grpcListen, metricsListen } = config.common;
  const [directory] = await Promise.all([
    config.target === 'all' && isValid('SERVICE_DATA_DIR') ? lockDataDirectory(dataDir, problems) : undefined,
    modules.includes('edge') && isValid('SERVICE_HOST', 'SERVICE_PORT')
      ? checkEdgeAddress(config.edge, problems)
      : undefined,
    config.target !== 'all' && isValid('SERVICE_GRPC_LISTEN')
      ? checkAddress('SERVICE_GRPC_LISTEN', grpcListen, problems)
      : undefined,
    metricsListen ? checkAddress('SERVICE_METRICS_LISTEN', metricsListen, problems) : undefined,
    checkTls(config).then((found) => problems.push(...found)),
    checkModelsFile(config).then((found) => problems.push(...found)),
    usesDatabase && databaseUrl ? checkDatabase(databaseUrl, problems) : undefined,
    checkCallerRules(config.common.callerRules, problems),
  ]);
  return directory;
}

async function lockDataDirectory(
  path: string,
  problems: SettingProblem[],
): Promise<LockedDirectory | undefined> {
  try {
    return await lockDirectory(path);
  } catch (error) {
    if (!(error instanceof DirectoryProblem)) throw error;
    problems.push(directoryProblem('SERVICE_DATA_DIR', error));
    return undefined;
  }
}

/** Loads the contracts only for rules, because loading takes time. */
async function checkCallerRules(
  rules: ProcessConfig['common']['callerRules'],
  problems: SettingProblem[],
): Promise<void> {
  if (rules === undefined) return;
  const { CONTRACTS } = await import('./contracts.ts');
  const problem = problemOfRules(rules, CONTRACTS);
  if (problem === undefined) return;
  const fix = 'use names of docs/reference/callers.md';
  problems.push({ variable: 'SERVICE_GRPC_CALLERS', problem, expected: CALLER_RULES, fix });
}

async function checkDatabase(url: string, problems: SettingProblem[]): Promise<void> {
  const { probeServer } = await import('../../lib/db/probe.ts');
  const found = await probeServer(url);
  if (found) problems.push({ variable: 'SERVICE_DATABASE_URL', ...found });
}

async function checkEdgeAddress(
  { host, port }: ProcessConfig['edge'],
  problems: SettingProblem[],
): Promise<void> {
  const fault = await checkPort(host, port);
  if (!fault) return;
  problems.push({
    variable: fault.isHostInvalid ? 'SERVICE_HOST' : 'SERVICE_PORT',
    problem: `: ${host}:${port} ${fault.reason}`,
    expected: fault.isHostInvalid ? 'an address of this machine' : 'a free port',
    fix: fault.isHostInvalid
      ? 'set SERVICE_HOST to 127.0.0.1'
      : 'stop that process, or set SERVICE_PORT to another port (0 takes any free one)',
  });
}

async function checkAddress(variable: string, address: string, problems: SettingProblem[]): Promise<void> {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  const fault = await checkPort(host, Number(address.slice(colon + 1)));
  if (!fault) return;
  problems.push({
    variable,
    problem: `: ${address} ${fault.reason}`,
    expected: fault.isHostInvalid ? 'an address of this machine' : 'a free port',
    fix: 'set another address as host:port; each process on a machine needs its own',
  });
}

const REASONS: Record<string, string> = {
  EADDRINUSE: 'is in use by another process',
  EACCES: 'is not allowed for this user',
  EADDRNOTAVAIL: 'does not belong to this machine',
  ENOTFOUND: 'cannot be resolved',
};

function checkPort(
  host: string,
  port: number,
): Promise<{ reason: string; isHostInvalid: boolean } | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', ({ code = '' }: NodeJS.ErrnoException) => {
      const reason = REASONS[code] ?? `cannot be used (${code})`;
      resolve({ reason, isHostInvalid: code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' });
    });
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}
