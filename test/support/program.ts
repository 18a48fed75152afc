import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = join(ROOT, 'services/main.js');
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The service as an operator runs it, in a process of its own. */
export interface Program {
  pid: number;
  /** Standard output and standard error so far. */
  output(): string;
  exited: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
}

/** `prefix` is a command that runs the program as another user. */
export function runProgram(
  env: Record<string, string>,
  args: string[] = [],
  prefix: readonly string[] = [],
): Program {
  const [command = process.execPath, ...rest] = [...prefix, process.execPath, MAIN, ...args];
  return observe(command, rest, { PATH, ...env });
}

/** Runs an npm script with the npm of the host. The process is that of npm. */
export function runScript(name: string, env: Record<string, string>): Program {
  const path = process.env.PATH ?? PATH;
  return observe('npm', ['run', name, '--prefix', ROOT], { PATH: path, HOME: homedir(), ...env });
}

function observe(command: string, args: string[], env: Record<string, string>): Program {
  // All programs share one compile cache.
  const { NODE_COMPILE_CACHE } = process.env;
  const child: ChildProcess = spawn(command, args, {
    env: NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE, ...env } : env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
  const exited = once(child, 'close').then(([code]) => code as number | null);
  return { pid: child.pid ?? 0, output: () => output, exited, kill: (signal) => void child.kill(signal) };
}
