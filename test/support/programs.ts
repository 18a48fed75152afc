import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { freePort } from '../../lib/db/embedded/port.ts';
import { type Api, createApi } from './api.ts';
import { isAlive } from './processes.ts';
import { type Program, runProgram, runScript } from './program.ts';
import { scratch } from './scratch.ts';
import { until } from './wait.ts';

/** Where a program keeps its data and listens, over several starts. */
export interface Place {
  dataDir: string;
  port: number;
  api: Api;
  /** Starts the program there, without waiting for it. */
  run(env?: Record<string, string>, args?: string[]): Program;
  /** Has npm run a script there. */
  runScript(name: string): Program;
  /** Starts it and waits until it is ready. */
  start(env?: Record<string, string>): Promise<Program>;
  /** The embedded PostgreSQL that runs there, or ran there last. */
  postgresPid(): Promise<number>;
  isReady(): Promise<boolean>;
}

const programs: Program[] = [];
const directories: string[] = [];

/** Ends and removes after each test of the file whatever it has started and made. */
export function cleanUpPlaces(): void {
  afterEach(async () => {
    const started = programs.splice(0);
    for (const program of started) program.kill('SIGKILL');
    await Promise.all(started.map((program) => program.exited));
    for (const directory of directories.splice(0)) {
      const pid = await postgresIn(directory).catch(() => undefined);
      await until('PostgreSQL has ended', () => pid === undefined || !isAlive(pid));
      await rm(directory, { recursive: true, force: true });
    }
  });
}

export function track(program: Program): Program {
  programs.push(program);
  return program;
}

export async function createPlace(): Promise<Place> {
  const dataDir = await mkdtemp(join(scratch(), 'ahs-start-'));
  directories.push(dataDir);
  const port = await freePort();
  const api = createApi(`http://127.0.0.1:${port}`);
  const settings = { SERVICE_DATA_DIR: dataDir, SERVICE_PORT: String(port), SERVICE_LOG_LEVEL: 'warn' };
  const run = (env: Record<string, string> = {}, args: string[] = []) =>
    track(runProgram({ ...settings, ...env }, args));
  const isReady = async () => (await fetch(`${api.origin}/readyz`).catch(() => undefined))?.ok ?? false;
  return {
    dataDir,
    port,
    api,
    run,
    runScript: (name) => track(runScript(name, settings)),
    isReady,
    postgresPid: () => postgresIn(dataDir),
    async start(env) {
      const program = run(env);
      let ended = false;
      void program.exited.then(() => {
        ended = true;
      });
      await until(
        'the program is ready',
        async () => {
          if (ended) throw new Error(`the program ended: ${program.output()}`);
          return isReady();
        },
        30_000,
      );
      return program;
    },
  };
}

async function postgresIn(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, 'postgres/cluster/data/postmaster.pid'), 'utf8'), 10);
}
