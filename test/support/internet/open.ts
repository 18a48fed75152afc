import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Api, createApi } from '../api.ts';
import { isRoot } from '../unprivileged-user.ts';
import { until } from '../wait.ts';
import type { MachineConfig } from './isolated-machine.ts';
import type { TlsServerConfig } from './tls-server.ts';

const MAIN = fileURLToPath(new URL('../../../services/main.js', import.meta.url));
const PORT = 8080;
const START_MS = 60_000;

/** The whole system as one program on an isolated machine, with a simulated internet. */
export interface IsolatedSystem extends AsyncDisposable {
  api: Api;
  /** The Host header of each request to the remote servers, in order. */
  requestedHosts: string[];
}

/**
 * Starts the program on a machine where each of `names` resolves to its address. A server answers on port 80 of each of these
 * addresses, public or private, except loopback and the machine's own `address`. With `tls`, another one answers on port 443.
 */
export async function openIsolatedSystem(
  names: Record<string, string>,
  address: string,
  { tls, env }: { tls?: TlsServerConfig; env?: Record<string, string> } = {},
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
    // The user namespace that grants network rights also grants root; drop it again.
    command: [...(isRoot ? [] : ownUser()), process.execPath, MAIN],
    env: {
      PATH,
      ...(NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}),
      SERVICE_DATA_DIR: join(directory, 'data'),
      SERVICE_PORT: String(PORT),
      SERVICE_LOG_LEVEL: 'warn',
      ...env,
    },
    tlsFile,
    port: PORT,
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
  machine.on('message', (message: { requestedHost?: string; ready?: boolean }) => {
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
  await until(
    'the program is ready',
    async () => alive() && ((await fetch(`${api.origin}/readyz`).catch(() => undefined))?.ok ?? false),
    START_MS,
  );
  const stack = opened.move();
  return { api, requestedHosts, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

function ownUser(): string[] {
  return ['unshare', '--user', `--map-user=${process.getuid?.()}`, `--map-group=${process.getgid?.()}`];
}
