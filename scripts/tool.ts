import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds package.json. */
export const root = fileURLToPath(new URL('..', import.meta.url));

export interface Outcome {
  ok: boolean;
  /** Both streams, in the order they came; empty when shown while it ran. */
  output: string;
}

/**
 * Runs a command in the root folder, with the binaries of node_modules first in PATH.
 * `show` lets its output through while it runs instead of keeping it.
 */
export function run(command: readonly string[], show = false): Promise<Outcome> {
  const [file = '', ...args] = command;
  const path = [join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter);
  const child = spawn(file === 'node' ? process.execPath : file, args, {
    cwd: root,
    env: { ...process.env, PATH: path },
    stdio: ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'],
  });
  const parts: Buffer[] = [];
  child.stdout?.on('data', (part: Buffer) => parts.push(part));
  child.stderr?.on('data', (part: Buffer) => parts.push(part));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ ok: code === 0, output: Buffer.concat(parts).toString() }));
  });
}

/** Runs a command that has to succeed; its output becomes the error otherwise. */
export async function must(command: readonly string[]): Promise<void> {
  const { ok, output } = await run(command);
  if (!ok) throw new Error(`${command.join(' ')} failed\n${output}`);
}
