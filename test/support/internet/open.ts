import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Api, createApi } from '../api.ts';
import { isRoot } from '../ordinary.ts';
import { until } from '../wait.ts';
import type { MachineOrders } from './machine.ts';

const MAIN = fileURLToPath(new URL('../../../services/main.ts', import.meta.url));
const PORT = 8080;
const START_MS = 60_000;

/** The whole system as one program on a machine of its own, and an internet that is only there for it. */
export interface Inland extends AsyncDisposable {
  api: Api;
  /** The hosts for which the servers of the internet were asked, request by request. */
  asked: string[];
}

/**
 * Starts the program where each of `names` has its address and, but for loopback and the machine's own `address`,
 * a server on port 80 answers there, be it a public address or none of anybody's.
 */
export async function openInland(names: Record<string, string>, address: string): Promise<Inland> {
  await using opened = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'ahs-inland-'));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  const orders: MachineOrders = {
    names,
    address,
    hostsFile: join(directory, 'hosts'),
    // Whoever had to become root for the network is nobody special again.
    command: [...(isRoot ? [] : ownUser()), process.execPath, MAIN],
    env: {
      PATH,
      ...(NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}),
      SERVICE_DATA_DIR: join(directory, 'data'),
      SERVICE_PORT: String(PORT),
      SERVICE_LOG_LEVEL: 'warn',
    },
    port: PORT,
  };
  const apart = ['--net', '--mount', ...(isRoot ? [] : ['--user', '--map-root-user'])];
  const machine = spawn(
    'unshare',
    [...apart, process.execPath, join(import.meta.dirname, 'machine.ts'), JSON.stringify(orders)],
    { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
  );
  let output = '';
  for (const stream of [machine.stdout, machine.stderr])
    stream?.on('data', (chunk) => {
      output += chunk;
    });
  let isReady = false;
  const asked: string[] = [];
  machine.on('message', (told: { asked?: string; ready?: boolean }) => {
    if (told.asked !== undefined) asked.push(told.asked);
    isReady ||= told.ready === true;
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
    if (ended) throw new Error(`the machine has ended: ${output}`);
    return true;
  };
  await until('the machine is there', () => alive() && isReady);

  const door = createServer().listen(0, '127.0.0.1');
  await once(door, 'listening');
  const { port } = door.address() as AddressInfo;
  await new Promise<void>((resolve) => machine.send('door', door, undefined, () => resolve()));
  // From here on the machine alone takes what comes.
  door.close();
  const api = createApi(`http://127.0.0.1:${port}`);
  await until(
    'the program is ready',
    async () => alive() && ((await fetch(`${api.origin}/readyz`).catch(() => undefined))?.ok ?? false),
    START_MS,
  );
  const stack = opened.move();
  return { api, asked, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

function ownUser(): string[] {
  return ['unshare', '--user', `--map-user=${process.getuid?.()}`, `--map-group=${process.getgid?.()}`];
}
