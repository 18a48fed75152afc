import { createServer } from 'node:net';
import { tryServer } from '../../lib/db/probe.ts';
import { DirectoryProblem, type HeldDirectory, holdDirectory } from '../../lib/directory.ts';
import type { SettingProblem } from '../../lib/env.ts';
import { misplaced } from './failure.ts';
import type { Plan } from './plan.ts';
import { KEEPERS, modulesOf } from './target.ts';

/**
 * Takes the data directory, tries the port and asks the database, so that whatever is wrong with any of them
 * stands on the same screen.
 */
export async function preflight(plan: Plan, problems: SettingProblem[]): Promise<HeldDirectory | undefined> {
  const known = (...variables: string[]) => !problems.some(({ variable }) => variables.includes(variable));
  const modules = modulesOf(plan.target);
  const keeps = modules.some((name) => KEEPERS.includes(name));
  const { databaseUrl, dataDir, grpcListen, metricsListen } = plan.house;
  const [directory] = await Promise.all([
    plan.target === 'all' && known('SERVICE_DATA_DIR') ? takeDirectory(dataDir, problems) : undefined,
    modules.includes('edge') && known('SERVICE_HOST', 'SERVICE_PORT')
      ? tryEdge(plan.edge, problems)
      : undefined,
    plan.target !== 'all' && known('SERVICE_GRPC_LISTEN')
      ? tryAddress('SERVICE_GRPC_LISTEN', grpcListen, problems)
      : undefined,
    metricsListen ? tryAddress('SERVICE_METRICS_LISTEN', metricsListen, problems) : undefined,
    keeps && databaseUrl ? tryDatabase(databaseUrl, problems) : undefined,
  ]);
  return directory;
}

async function takeDirectory(path: string, problems: SettingProblem[]): Promise<HeldDirectory | undefined> {
  try {
    return await holdDirectory(path);
  } catch (error) {
    if (!(error instanceof DirectoryProblem)) throw error;
    problems.push(misplaced('SERVICE_DATA_DIR', error));
    return undefined;
  }
}

async function tryDatabase(url: string, problems: SettingProblem[]): Promise<void> {
  const found = await tryServer(url);
  if (found) problems.push({ variable: 'SERVICE_DATABASE_URL', ...found });
}

async function tryEdge({ host, port }: Plan['edge'], problems: SettingProblem[]): Promise<void> {
  const fault = await tryPort(host, port);
  if (!fault) return;
  problems.push({
    variable: fault.atHost ? 'SERVICE_HOST' : 'SERVICE_PORT',
    problem: `: ${host}:${port} ${fault.reason}`,
    expected: fault.atHost ? 'an address of this machine' : 'a free port',
    fix: fault.atHost
      ? 'set SERVICE_HOST to 127.0.0.1'
      : 'stop that process, or set SERVICE_PORT to another port (0 takes any free one)',
  });
}

async function tryAddress(variable: string, address: string, problems: SettingProblem[]): Promise<void> {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  const fault = await tryPort(host, Number(address.slice(colon + 1)));
  if (!fault) return;
  problems.push({
    variable,
    problem: `: ${address} ${fault.reason}`,
    expected: fault.atHost ? 'an address of this machine' : 'a free port',
    fix: 'name another, as host:port; every process on a machine needs one of its own',
  });
}

const REASONS: Record<string, string> = {
  EADDRINUSE: 'is taken by another process',
  EACCES: 'may not be used by this user',
  EADDRNOTAVAIL: 'does not belong to this machine',
  ENOTFOUND: 'cannot be resolved',
};

function tryPort(host: string, port: number): Promise<{ reason: string; atHost: boolean } | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', ({ code = '' }: NodeJS.ErrnoException) => {
      const reason = REASONS[code] ?? `cannot be used (${code})`;
      resolve({ reason, atHost: code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' });
    });
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}
