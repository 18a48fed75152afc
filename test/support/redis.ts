import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './port.ts';

export interface TestRedis extends AsyncDisposable {
  url: string;
  port: number;
  /** Stops the server and removes its directory. */
  stop(): Promise<void>;
  /** Kills the server. */
  kill(): Promise<void>;
  /** Kills a running server, then starts an empty one on the same port. */
  restart(): Promise<void>;
  /** Suspends the server, with its connections open, until the returned function is called. */
  pause(): () => void;
}

/** Starts the host's `redis-server` on a free port without persistence. It ends with this process. */
export async function startRedis(): Promise<TestRedis> {
  const directory = await mkdtemp(join(tmpdir(), 'ahs-test-redis-'));
  const port = await freePort();
  let server: ChildProcess = await start(port, directory);

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  }

  async function stop(): Promise<void> {
    await end('SIGTERM');
    await rm(directory, { recursive: true, force: true });
  }

  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    stop,
    kill: () => end('SIGKILL'),
    async restart() {
      await end('SIGKILL');
      server = await start(port, directory);
    },
    pause() {
      const paused = server;
      paused.kill('SIGSTOP');
      return () => void paused.kill('SIGCONT');
    },
    [Symbol.asyncDispose]: stop,
  };
}

async function start(port: number, directory: string): Promise<ChildProcess> {
  const redis = ['redis-server', '--port', `${port}`, '--bind', '127.0.0.1', '--dir', directory];
  const withoutPersistence = ['--save', '', '--appendonly', 'no'];
  const server = spawn('setpriv', ['--pdeathsig', 'KILL', ...redis, ...withoutPersistence], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const failed = once(server, 'exit').then(() => false);
  const ready = (async () => {
    for await (const line of createInterface(server.stdout)) {
      if (line.includes('Ready to accept connections')) return true;
    }
    return false;
  })();
  if (await Promise.race([ready, failed])) {
    server.stdout.resume();
    return server;
  }
  throw new Error(`redis-server did not start on port ${port}`);
}
