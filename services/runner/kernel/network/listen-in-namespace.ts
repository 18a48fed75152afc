import { spawn } from 'node:child_process';
import { Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { OperatingSystemError } from '../operating-system-error.ts';

/** The port of a sandbox's loopback interface on which its proxy listens. */
const PROXY_PORT = 3128;
const PROXY_URL = `http://127.0.0.1:${PROXY_PORT}`;
const NO_PROXY_HOSTS = 'localhost,127.0.0.1,::1';

/** Programs differ in which of these variables they read, and in which case. */
export const PROXY_VARIABLES = {
  ...Object.fromEntries(
    ['http_proxy', 'https_proxy', 'all_proxy'].flatMap((name) => [
      [name, PROXY_URL],
      [name.toUpperCase(), PROXY_URL],
    ]),
  ),
  no_proxy: NO_PROXY_HOSTS,
  NO_PROXY: NO_PROXY_HOSTS,
  // Node reads the others only when this one is set.
  NODE_USE_ENV_PROXY: '1',
};

/**
 * Returns a server that listens in another network namespace, while its connections are handled in this process. It
 * needs no program in that namespace and no other link between the two networks. `enterArguments` is the program that
 * starts a further program in the namespace. Rejects with an OperatingSystemError that has the standard error output.
 */
export async function listenInNamespace(
  enterArguments: readonly [program: string, ...args: string[]],
  accept: (client: Socket) => void,
): Promise<Server> {
  const [program, ...args] = enterArguments;
  const listener = join(import.meta.dirname, 'listener-process.js');
  const child = spawn(program, [...args, process.execPath, listener, `${PROXY_PORT}`], {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let stderr = '';
  child.stderr?.on('data', (bytes: Buffer) => {
    stderr += bytes.toString();
  });
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  let server: Server | undefined;
  child.once('message', (_, handle) => {
    if (handle instanceof Server) server = handle.on('connection', accept);
  });
  child.once('error', reject);
  // Until the child has exited, it accepts connections, too.
  child.once('exit', () =>
    server
      ? resolve(server)
      : reject(new OperatingSystemError(stderr.trim() || 'The proxy of the sandbox does not listen.')),
  );
  return await promise;
}
