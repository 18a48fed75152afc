import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Staging } from '../../../../services/runner/sandbox/directory/erase.ts';
import { DirectoryTree } from '../../../../services/runner/sandbox/directory/tree.ts';
import type { Scan, WorkspaceTree } from '../../../../services/runner/sandbox/tree.ts';

export const encoder = new TextEncoder();

export async function* bytes(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === 'string' ? encoder.encode(chunk) : chunk;
}

export const PLAIN = { executable: false, modifiedAt: new Date('2026-01-02T03:04:05Z') };

export async function readText(tree: WorkspaceTree, path: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of tree.read(path)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** A workspace in a directory of its own, with what lies around it. */
export function makeWorkspace(options: { maxEntries?: number } = {}) {
  const base = mkdtempSync(join(tmpdir(), 'ahs-workspace-'));
  const root = join(base, 'tree');
  const staging = new Staging(join(base, 'staging'));
  mkdirSync(root);
  mkdirSync(staging.path);
  const tree = new DirectoryTree({ path: root, staging, ...options });
  const dispose = () => rmSync(base, { recursive: true, force: true });
  return { base, root, staging, tree, at: (path: string) => join(root, path), [Symbol.dispose]: dispose };
}

/** What stands where: the text of files (with a * when they can be run), -> of links, / of directories. */
export type Picture = Map<string, string>;

export const picture = {
  file: (text: string, executable: boolean) => `${text}${executable ? '*' : ''}`,
  symlink: (target: string) => `-> ${target}`,
  directory: '/',
};

/** Looks at a directory by its path; nothing in it may be hostile. */
export function takePicture(root: string, prefix = '', found: Picture = new Map()): Picture {
  for (const entry of readdirSync(join(root, prefix), { withFileTypes: true })) {
    const name = `${prefix}${entry.name}`;
    const path = join(root, name);
    if (entry.isDirectory()) takePicture(root, `${name}/`, found.set(name, picture.directory));
    else if (entry.isSymbolicLink()) found.set(name, picture.symlink(readlinkSync(path)));
    else if (entry.isFile())
      found.set(name, picture.file(readFileSync(path, 'utf8'), (statSync(path).mode & 0o100) !== 0));
  }
  return found;
}

/** Carries out what a scan says on a picture, as the service does with what it keeps. */
export async function follow(kept: Picture, { changes }: Scan, tree: WorkspaceTree): Promise<void> {
  for (const change of changes) {
    const above = change.path.includes('/') ? change.path.slice(0, change.path.lastIndexOf('/')) : undefined;
    if (change.kind !== 'remove' && above !== undefined && kept.get(above) !== picture.directory)
      throw new Error(`${change.path} comes before the directory that it is in`);
    if (change.kind === 'remove') {
      if (!kept.delete(change.path)) throw new Error(`${change.path} was not there`);
      for (const path of [...kept.keys()]) if (path.startsWith(`${change.path}/`)) kept.delete(path);
    } else if (change.kind === 'directory') kept.set(change.path, picture.directory);
    else if (change.kind === 'symlink') kept.set(change.path, picture.symlink(change.target));
    else kept.set(change.path, picture.file(await readText(tree, change.path), change.executable));
  }
}

export const sorted = (one: Picture) => [...one].sort(([a], [b]) => (a < b ? -1 : 1));
