import { spawn } from 'node:child_process';
import { Server, type Socket } from 'node:net';
import { join } from 'node:path';

/** Where a sandbox finds its proxy. */
export const PROXY_PORT = 3128;
const PROXY = `http://127.0.0.1:${PROXY_PORT}`;
const NEAR = 'localhost,127.0.0.1,::1';

/** Programs agree neither on a name nor on its case. */
export const PROXY_VARIABLES = {
  ...Object.fromEntries(
    ['http_proxy', 'https_proxy', 'all_proxy'].flatMap((name) => [
      [name, PROXY],
      [name.toUpperCase(), PROXY],
    ]),
  ),
  no_proxy: NEAR,
  NO_PROXY: NEAR,
  // Node looks at them only when it is told to.
  NODE_USE_ENV_PROXY: '1',
};

/**
 * Listens in another network, into which `entrance` leads. That needs no program inside, and no way between the two
 * networks but this one. Throws an Error with what went wrong.
 */
export async function listenIn(
  entrance: readonly [program: string, ...args: string[]],
  accept: (client: Socket) => void,
): Promise<Server> {
  const [program, ...args] = entrance;
  const listener = join(import.meta.dirname, 'listener.ts');
  const child = spawn(program, [...args, process.execPath, listener, `${PROXY_PORT}`], {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let complaint = '';
  child.stderr?.on('data', (bytes: Buffer) => {
    complaint += bytes.toString();
  });
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  let server: Server | undefined;
  child.once('message', (_, handle) => {
    if (handle instanceof Server) server = handle.on('connection', accept);
  });
  child.once('error', reject);
  // As long as it is there, it takes connections, too.
  child.once('exit', () =>
    server ? resolve(server) : reject(new Error(complaint.trim() || 'nothing listens')),
  );
  return await promise;
}
