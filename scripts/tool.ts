import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root folder of the repository. */
export const root = fileURLToPath(new URL('..', import.meta.url));

export interface Outcome {
  ok: boolean;
  /** The combined output of both streams; empty with `show`. */
  output: string;
}

/**
 * Runs a command in the root folder, with the binaries of node_modules first in PATH.
 * With `show`, the output is passed through instead of being returned.
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

/** Runs a command and throws an error with its output when it fails. */
export async function must(command: readonly string[]): Promise<void> {
  const { ok, output } = await run(command);
  if (!ok) throw new Error(`${command.join(' ')} failed\n${output}`);
}
