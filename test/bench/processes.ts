import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoadFigures, LoadJob } from './load.ts';

export interface Subject extends AsyncDisposable {
  port: number;
  child: ChildProcess;
}

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Starts a server to be measured; it says on which port it listens. */
export async function startSubject(name: string, args: string[]): Promise<Subject> {
  const child = fork(pathOf(name), args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [message] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error(`${name} did not start`))),
  ]);
  return {
    port: (message as { port: number }).port,
    child,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

export async function runLoad(job: LoadJob): Promise<LoadFigures> {
  const child = fork(pathOf('load.ts'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.send(job);
  const [figures] = await once(child, 'message');
  return figures as LoadFigures;
}

/** What a server has used so far. */
export async function usageOf({ child }: Subject): Promise<{ cpuMs: number; rss: number }> {
  child.send('usage');
  const [{ cpu, rss }] = (await once(child, 'message')) as [{ cpu: NodeJS.CpuUsage; rss: number }];
  return { cpuMs: (cpu.user + cpu.system) / 1_000, rss };
}
