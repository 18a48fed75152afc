import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Browser } from '../../edge/access/browser.ts';
import { teamSettings } from '../../edge/access/team.ts';
import { type Api, createApi } from '../../support/api.ts';
import { FakeS3 } from '../../support/fake-s3.ts';
import { IdentityProvider } from '../../support/identity-provider.ts';
import { freePort } from '../../support/port.ts';
import { startTestPostgres } from '../../support/postgres-server.ts';
import { type Program, runProgram } from '../../support/program.ts';
import { startRedis } from '../../support/redis.ts';
import { scratch } from '../../support/scratch.ts';
import { planTargets, SERVICES, TARGETS, type TargetName } from '../../support/targets.ts';
import { until } from '../../support/wait.ts';
import { stateOf } from '../faults/parts.ts';
import { type Network, openNetwork } from './network.ts';

/** The system as a process per target, in team mode. `sessions` and `runner` have two instances each. */
export interface ProcessSystem extends AsyncDisposable {
  /** A client with a personal access token of an administrator. */
  api: Api;
  databaseUrl: string;
  network: Network;
  names: readonly string[];
  /** Starts a process that has ended, and waits until it is ready. */
  restart(name: string): Promise<void>;
  kill(name: string): Promise<void>;
  suspend(name: string): void;
  resume(name: string): void;
  /** Whether every process reports that it is ready. */
  allReady(): Promise<boolean>;
  /** One line for each process that has exited by itself, with the end of its output. */
  unexpectedExits(): string[];
}

interface PlannedProcess {
  target: TargetName;
  port: number;
  /** Serves /readyz of the process alone. */
  operationsPort: number;
}

const DOUBLED: readonly TargetName[] = ['sessions', 'runner'];
const ACCOUNTS = { alice: { name: 'Alice', email: 'alice@example.com', groups: ['operators'] } };
/** The time to start depends on the machine, and the benchmark measures it. */
const START_MS = 180_000;
/** The end of the output of a process that has exited by itself. */
const OUTPUT_CHARS = 2_000;

export async function startProcessSystem(): Promise<ProcessSystem> {
  await using opened = new AsyncDisposableStack();
  const postgres = opened.use(await startTestPostgres());
  const redis = opened.use(await startRedis());
  const store = opened.use(await new FakeS3().start());
  const provider = opened.use(await IdentityProvider.open({ accounts: ACCOUNTS }));
  const directory = await mkdtemp(join(scratch(), 'ahs-processes-'));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const network = opened.use(openNetwork());
  const { origin, settings } = await planTargets({
    SERVICE_DATABASE_URL: postgres.url,
    SERVICE_REDIS_URL: redis.url,
    SERVICE_S3_ENDPOINT: store.endpoint,
    SERVICE_S3_BUCKET: 'files',
    SERVICE_S3_ACCESS_KEY: 'key',
    SERVICE_S3_SECRET_KEY: 'secret',
    SERVICE_TURN_LEASE_SECONDS: '2',
    ...teamSettings(provider),
  });
  provider.setOrigin(origin);
  const processes = await planProcesses();
  const environments = new Map<string, Record<string, string>>();
  for (const [name, { target, port, operationsPort }] of processes)
    environments.set(name, {
      ...settings[target],
      ...(await addressesFor(name, processes, network)),
      SERVICE_GRPC_LISTEN: `127.0.0.1:${port}`,
      SERVICE_METRICS_LISTEN: `127.0.0.1:${operationsPort}`,
      SERVICE_DATA_DIR: join(directory, name.replace(' ', '-')),
    });

  const running = new Map<string, Program>();
  const exits: string[] = [];
  function run(name: string): void {
    const program = runProgram(environments.get(name) ?? {}, [`--target=${processes.get(name)?.target}`]);
    running.set(name, program);
    void program.exited.then((code) => {
      if (running.get(name) !== program) return;
      running.delete(name);
      exits.push(`${name} exited by itself (${code}): ${program.output().slice(-OUTPUT_CHARS)}`);
    });
  }
  async function kill(name: string): Promise<void> {
    const program = running.get(name);
    running.delete(name);
    program?.kill('SIGKILL');
    await program?.exited;
  }
  opened.defer(async () => {
    await Promise.all([...running.keys()].map(kill));
  });

  for (const name of processes.keys()) run(name);
  async function isReady(name: string): Promise<boolean> {
    const url = `http://127.0.0.1:${processes.get(name)?.operationsPort}/readyz`;
    return (await fetch(url).catch(() => undefined))?.ok ?? false;
  }
  const allReady = async () => (await Promise.all([...processes.keys()].map(isReady))).every(Boolean);
  await until(
    'the processes are ready',
    async () => {
      if (exits.length > 0) throw new Error(exits.join('\n'));
      return (await stateOf(origin)) === 'ready' && (await allReady());
    },
    START_MS,
  );
  const browser = new Browser(origin);
  await browser.logIn(provider, 'alice');
  const { value } = await browser.token(['read', 'write', 'admin']);
  const stack = opened.move();
  return {
    api: createApi(origin, { authorization: `Bearer ${value}` }),
    databaseUrl: postgres.url,
    network,
    names: [...processes.keys()],
    kill,
    async restart(name) {
      run(name);
      await until(`${name} is ready`, () => isReady(name), START_MS);
    },
    suspend: (name) => running.get(name)?.kill('SIGSTOP'),
    resume: (name) => running.get(name)?.kill('SIGCONT'),
    allReady,
    unexpectedExits: () => exits,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Returns the processes by name. */
async function planProcesses(): Promise<Map<string, PlannedProcess>> {
  const processes = new Map<string, PlannedProcess>();
  for (const target of TARGETS)
    for (const name of DOUBLED.includes(target) ? [target, `${target} 2`] : [target])
      processes.set(name, { target, port: await freePort(), operationsPort: await freePort() });
  return processes;
}

/** Returns the address settings of one process, each with a proxy for each instance. */
async function addressesFor(
  caller: string,
  processes: ReadonlyMap<string, PlannedProcess>,
  network: Network,
): Promise<Record<string, string>> {
  const addresses: Record<string, string> = {};
  for (const service of SERVICES) {
    const instances = [...processes].filter(([, { target }]) => target === service);
    const listed = instances.map(([called, { port }]) => network.addressFor(caller, called, port));
    addresses[`SERVICE_${service.toUpperCase()}_ADDRESS`] = (await Promise.all(listed)).join();
  }
  return addresses;
}
