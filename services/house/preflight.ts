import { createServer } from 'node:net';
import { DirectoryProblem, type HeldDirectory, holdDirectory } from '../../lib/directory.ts';
import type { SettingProblem } from '../../lib/env.ts';
import type { Plan } from './plan.ts';
import { modulesOf } from './target.ts';

/** Takes the data directory and tries the port, so that whatever is wrong with either stands on the same screen. */
export async function preflight(plan: Plan, problems: SettingProblem[]): Promise<HeldDirectory | undefined> {
  const known = (...variables: string[]) => !problems.some(({ variable }) => variables.includes(variable));
  const wantsDirectory = plan.target === 'all' && known('SERVICE_DATA_DIR');
  const wantsPort = modulesOf(plan.target).includes('edge') && known('SERVICE_HOST', 'SERVICE_PORT');
  const [directory] = await Promise.all([
    wantsDirectory ? takeDirectory(plan.house.dataDir, problems) : undefined,
    wantsPort ? tryPort(plan.edge, problems) : undefined,
  ]);
  return directory;
}

async function takeDirectory(path: string, problems: SettingProblem[]): Promise<HeldDirectory | undefined> {
  try {
    return await holdDirectory(path);
  } catch (error) {
    if (!(error instanceof DirectoryProblem)) throw error;
    const { message, expected, fix } = error;
    problems.push({ variable: 'SERVICE_DATA_DIR', problem: `: ${message}`, expected, fix });
    return undefined;
  }
}

const REASONS: Record<string, string> = {
  EADDRINUSE: 'is taken by another process',
  EACCES: 'may not be used by this user',
  EADDRNOTAVAIL: 'does not belong to this machine',
  ENOTFOUND: 'cannot be resolved',
};

async function tryPort({ host, port }: Plan['edge'], problems: SettingProblem[]): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = REASONS[error.code ?? ''] ?? `cannot be used (${error.code})`;
      const hostAtFault = error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND';
      problems.push({
        variable: hostAtFault ? 'SERVICE_HOST' : 'SERVICE_PORT',
        problem: `: ${host}:${port} ${reason}`,
        expected: hostAtFault ? 'an address of this machine' : 'a free port',
        fix: hostAtFault
          ? 'set SERVICE_HOST to 127.0.0.1'
          : 'stop that process, or set SERVICE_PORT to another port (0 takes any free one)',
      });
      resolve();
    });
    server.listen(port, host, () => server.close(() => resolve()));
  });
}
