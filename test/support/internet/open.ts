import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Api, createApi } from '../api.ts';
import { bucketSettings } from '../bucket.ts';
import { createDatabase } from '../database.ts';
import { startRedis } from '../redis.ts';
import { planTargets, TARGETS } from '../targets.ts';
import { isRoot } from '../unprivileged-user.ts';
import { until } from '../wait.ts';
import type { MachineConfig } from './isolated-machine.ts';
import type { TlsServerConfig } from './tls-server.ts';

const MAIN = fileURLToPath(new URL('../../../services/main.js', import.meta.url));
const PORT = 8080;
const START_MS = 60_000;

/** The whole system on an isolated machine, with a simulated internet. */
export interface IsolatedSystem extends AsyncDisposable {
  api: Api;
  /** The process ids of the programs of the service. */
  pids: readonly number[];
  /** Standard output and standard error of all programs so far. */
  output(): string;
  /** The Host header of each request to the remote servers, in order. */
  requestedHosts: string[];
}

interface IsolatedOptions {
  tls?: TlsServerConfig;
  env?: Record<string, string>;
}

/** The programs of the service on the machine. */
type Programs = Pick<MachineConfig, 'programs' | 'sockets' | 'port'>;

/**
 * Starts the service as one program on a machine where each of `names` resolves to its address. A server answers on port 80 of each of these
 * addresses, public or private, except loopback and the machine's own `address`. With `tls`, another one answers on port 443.
 */
export async function openIsolatedSystem(
  names: Record<string, string>,
  address: string,
  options: IsolatedOptions = {},
): Promise<IsolatedSystem> {
  return openMachine(names, address, options, async (env) => ({
    programs: [{ command: commandOf(), env: { ...env, SERVICE_PORT: String(PORT) } }],
    sockets: [],
    port: PORT,
  }));
}

/**
 * The same with a program for each target. They share a database, a Redis server and a bucket outside of the machine. Returns
 * the URL of the database too.
 */
export async function openIsolatedTargets(
  names: Record<string, string>,
  address: string,
  options: IsolatedOptions = {},
): Promise<IsolatedSystem & { databaseUrl: string }> {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createDatabase());
  const redis = opening.use(await startRedis());
  const directory = await mkdtemp(join(tmpdir(), 'ahs-sockets-'));
  opening.defer(() => rm(directory, { recursive: true, force: true }));
  const bucket = bucketSettings();
  const sockets: MachineConfig['sockets'] = [];
  for (const url of [database.url, redis.url, bucket.SERVICE_S3_ENDPOINT ?? '']) {
    const { hostname, port } = new URL(url);
    const path = join(directory, port);
    opening.use(await listenAt(path, Number(port), hostname));
    sockets.push({ port: Number(port), path });
  }
  const system = opening.use(
    await openMachine(names, address, options, async (env) => {
      const shared = { SERVICE_DATABASE_URL: database.url, SERVICE_REDIS_URL: redis.url, ...bucket };
      const { settings, origin } = await planTargets({ ...env, ...shared });
      return {
        programs: TARGETS.map((target) => ({
          command: [...commandOf(), `--target=${target}`],
          env: settings[target],
        })),
        sockets,
        port: Number(new URL(origin).port),
      };
    }),
  );
  const stack = opening.move();
  return { ...system, databaseUrl: database.url, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Passes connections to a Unix socket on to a port. The isolated machine cannot reach the port, but the socket. */
async function listenAt(path: string, port: number, host: string): Promise<AsyncDisposable> {
  const server = createServer((client) => {
    const inner = connect(port, host);
    client.on('error', () => inner.destroy()).pipe(inner);
    inner.on('error', () => client.destroy()).pipe(client);
  }).listen(path);
  await once(server, 'listening');
  return { [Symbol.asyncDispose]: async () => void server.close() };
}

async function openMachine(
  names: Record<string, string>,
  address: string,
  { tls, env }: IsolatedOptions,
  programsFor: (env: Record<string, string>) => Promise<Programs>,
): Promise<IsolatedSystem> {
  await using opened = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'ahs-inland-'));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const tlsFile = tls && join(directory, 'tls.json');
  if (tlsFile) await writeFile(tlsFile, JSON.stringify(tls), { mode: 0o600 });
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  const config: MachineConfig = {
    names,
    address,
    hostsFile: join(directory, 'hosts'),
    tlsFile,
    ...(await programsFor({
      PATH,
      ...(NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}),
      SERVICE_DATA_DIR: join(directory, 'data'),
      SERVICE_LOG_LEVEL: 'warn',
      ...env,
    })),
  };
  const namespaces = ['--net', '--mount', ...(isRoot ? [] : ['--user', '--map-root-user'])];
  const machine = spawn(
    'unshare',
    [
      ...namespaces,
      process.execPath,
      join(import.meta.dirname, 'isolated-machine.ts'),
      JSON.stringify(config),
    ],
    { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
  );
  let output = '';
  for (const stream of [machine.stdout, machine.stderr])
    stream?.on('data', (chunk) => {
      output += chunk;
    });
  let isReady = false;
  const requestedHosts: string[] = [];
  let pids: readonly number[] = [];
  machine.on('message', (message: { requestedHost?: string; ready?: boolean; pids?: number[] }) => {
    pids = message.pids ?? pids;
    if (message.requestedHost !== undefined) requestedHosts.push(message.requestedHost);
    isReady ||= message.ready === true;
  });
  const exited = once(machine, 'close');
  let ended = false;
  void exited.then(() => {
    ended = true;
  });
  opened.defer(async () => {
    machine.kill('SIGTERM');
    await exited;
  });
  const alive = () => {
    if (ended) throw new Error(`the machine has exited: ${output}`);
    return true;
  };
  await until('the machine has started', () => alive() && isReady);

  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  await new Promise<void>((resolve) => machine.send('listener', listener, undefined, () => resolve()));
  // From here on only the machine accepts connections.
  listener.close();
  const api = createApi(`http://127.0.0.1:${port}`);
  // A degraded edge answers 200, too, for example while `files` starts.
  const isServing = async () => {
    const response = await fetch(`${api.origin}/readyz`).catch(() => undefined);
    return (
      response?.ok === true && (pids.length === 1 || (await response.text()).includes('"status":"ready"'))
    );
  };
  await until('the programs are ready', async () => alive() && (await isServing()), START_MS);
  const stack = opened.move();
  return {
    ...{ api, pids, requestedHosts },
    output: () => output,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** The user namespace that grants network rights also grants root; drop it again. */
const commandOf = () => [...(isRoot ? [] : ownUser()), process.execPath, MAIN];

function ownUser(): string[] {
  return ['unshare', '--user', `--map-user=${process.getuid?.()}`, `--map-group=${process.getgid?.()}`];
}
