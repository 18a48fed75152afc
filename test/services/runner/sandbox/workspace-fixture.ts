import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ScanResult, WorkspaceTree } from '../../../../services/runner/sandbox/workspace-tree.ts';
import { DirectoryTree } from '../../../../services/runner/sandbox-providers/directory/directory-tree.ts';
import { Staging } from '../../../../services/runner/sandbox-providers/directory/staging.ts';

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

/** Creates a workspace tree and its staging directory in a temporary directory. */
export function makeWorkspace(options: { maxFiles?: number } = {}) {
  const base = mkdtempSync(join(tmpdir(), 'ahs-workspace-'));
  const root = join(base, 'tree');
  const staging = new Staging(join(base, 'staging'));
  mkdirSync(root);
  mkdirSync(staging.path);
  const limit = { bytes: 1024 ** 3, entries: 400_000 };
  const freeBytes = () => Number.POSITIVE_INFINITY;
  const tree = new DirectoryTree({ path: root, staging, maxFiles: 200_000, limit, freeBytes, ...options });
  const dispose = () => rmSync(base, { recursive: true, force: true });
  return { base, root, staging, tree, at: (path: string) => join(root, path), [Symbol.dispose]: dispose };
}

/** Entries by path: text for a file (plus * when executable), `-> target` for a link, `/` for a directory. */
export type TreeSnapshot = Map<string, string>;

export const snapshotEntry = {
  file: (text: string, executable: boolean) => `${text}${executable ? '*' : ''}`,
  symlink: (target: string) => `-> ${target}`,
  directory: '/',
};

/** Takes a snapshot of a directory. It follows paths, so the directory must not change meanwhile. */
export function takeSnapshot(root: string, prefix = '', found: TreeSnapshot = new Map()): TreeSnapshot {
  for (const entry of readdirSync(join(root, prefix), { withFileTypes: true })) {
    const name = `${prefix}${entry.name}`;
    const path = join(root, name);
    if (entry.isDirectory()) takeSnapshot(root, `${name}/`, found.set(name, snapshotEntry.directory));
    else if (entry.isSymbolicLink()) found.set(name, snapshotEntry.symlink(readlinkSync(path)));
    else if (entry.isFile())
      found.set(name, snapshotEntry.file(readFileSync(path, 'utf8'), (statSync(path).mode & 0o100) !== 0));
  }
  return found;
}

/** Applies the changes of a scan to a snapshot, as the files service does to a workspace. */
export async function applyScan(
  snapshot: TreeSnapshot,
  { changes }: ScanResult,
  tree: WorkspaceTree,
): Promise<void> {
  for (const change of changes) {
    const parent = change.path.includes('/') ? change.path.slice(0, change.path.lastIndexOf('/')) : undefined;
    if (change.kind !== 'remove' && parent !== undefined && snapshot.get(parent) !== snapshotEntry.directory)
      throw new Error(`${change.path} precedes its parent directory`);
    if (change.kind === 'remove') {
      if (!snapshot.delete(change.path)) throw new Error(`${change.path} does not exist`);
      for (const path of [...snapshot.keys()]) if (path.startsWith(`${change.path}/`)) snapshot.delete(path);
    } else if (change.kind === 'directory') snapshot.set(change.path, snapshotEntry.directory);
    else if (change.kind === 'symlink') snapshot.set(change.path, snapshotEntry.symlink(change.target));
    else snapshot.set(change.path, snapshotEntry.file(await readText(tree, change.path), change.executable));
  }
}

export const sorted = (one: TreeSnapshot) => [...one].sort(([a], [b]) => (a < b ? -1 : 1));
