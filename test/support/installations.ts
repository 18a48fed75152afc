import { access, cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { type Api, createApi } from './api.ts';
import { freePort } from './port.ts';
import { isAlive } from './processes.ts';
import { type Program, runProgram, runScript } from './program.ts';
import { scratch } from './scratch.ts';
import { until } from './wait.ts';

/** A data directory and a port for a program that is started several times. */
export interface Installation {
  dataDir: string;
  port: number;
  api: Api;
  /** Starts the program without waiting. */
  run(env?: Record<string, string>, args?: string[]): Program;
  /** Runs an npm script with this data directory and port. */
  runScript(name: string): Program;
  /** Starts the program and waits until it is ready. */
  start(env?: Record<string, string>): Promise<Program>;
  /** The process id of the current or last embedded PostgreSQL. */
  postgresPid(): Promise<number>;
  isReady(): Promise<boolean>;
}

const programs: Program[] = [];
const directories: string[] = [];

/** After each test of the file, kills the started programs and removes the data directories. */
export function cleanUpInstallations(): void {
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

function track(program: Program): Program {
  programs.push(program);
  return program;
}

/** Creates an installation with an empty data directory. */
export async function createInstallation(): Promise<Installation> {
  const dataDir = await mkdtemp(join(scratch(), 'ahs-start-'));
  directories.push(dataDir);
  return installationIn(dataDir);
}

/** Creates an installation that was started and stopped before. It starts faster than a new one. */
export async function createUsedInstallation(): Promise<Installation> {
  const installation = await createInstallation();
  const source = await usedDataDirectory();
  // The disks of sandboxes are sparse files, which a copy would fill.
  for (const name of ['postgres', 'secrets'])
    await cp(join(source, name), join(installation.dataDir, name), { recursive: true });
  return installation;
}

/** The data directory that all used installations of a test run are copied from. The first caller creates it. */
async function usedDataDirectory(): Promise<string> {
  const path = join(scratch(), 'used-installation');
  const draft = `${path}.draft`;
  const isFirst = await mkdir(`${path}.lock`).then(
    () => true,
    () => false,
  );
  if (isFirst) {
    await mkdir(draft);
    const program = await (await installationIn(draft)).start();
    program.kill('SIGTERM');
    await program.exited;
    await rename(draft, path);
  }
  const exists = () =>
    access(path).then(
      () => true,
      () => false,
    );
  await until('another test file has created the data directory', exists);
  return path;
}

async function installationIn(dataDir: string): Promise<Installation> {
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
      await until('the program is ready', async () => {
        if (ended) throw new Error(`the program ended: ${program.output()}`);
        return isReady();
      });
      return program;
    },
  };
}

async function postgresIn(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, 'postgres/cluster/data/postmaster.pid'), 'utf8'), 10);
}
