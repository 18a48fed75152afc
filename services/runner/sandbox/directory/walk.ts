import { setImmediate } from 'node:timers/promises';
import { refuse } from '../../../../lib/errors.ts';
import { pathProblem } from '../../../../lib/paths.ts';
import type { Seen } from '../tree.ts';
import { codeOf, type Folder } from './folder.ts';
import { look } from './seen.ts';

/** Looks that are taken at a stretch: about a millisecond, in which nothing else of the process runs. */
const AT_A_STRETCH = 128;

export interface Walk {
  /** Told of each path, a directory before what is in it. */
  found(path: string, seen: Seen, modifiedAt: Date): void;
  skipped(path: string, reason: string): void;
  /** Of the clock of the file system that holds the tree. */
  nowNs: bigint;
  maxEntries: number;
}

/** Goes through a tree in the order of its names. Throws QUOTA_EXCEEDED when there is more in it than it may hold. */
export async function walk(root: Folder, options: Walk): Promise<void> {
  let left = options.maxEntries;
  for (const _ of steps(root, '', options)) {
    if (left === 0) throw refuse('QUOTA_EXCEEDED', `There are more than ${options.maxEntries} files.`);
    left -= 1;
    if (left % AT_A_STRETCH === 0) await setImmediate();
  }
}

function* steps(folder: Folder, prefix: string, options: Walk): Generator<void> {
  for (const name of names(folder, prefix, options)) {
    yield;
    const path = prefix + name;
    const problem = pathProblem(path);
    if (problem !== undefined) {
      options.skipped(shown(path), problem);
      continue;
    }
    const there = lookAt(folder, name, options.nowNs);
    if (there?.kind === 'skipped') options.skipped(path, there.reason);
    if (there?.kind !== 'seen') continue;
    using below = there.seen.kind === 'directory' ? enter(folder, name) : undefined;
    if (there.seen.kind === 'directory' && !below) continue;
    options.found(path, there.seen, there.modifiedAt);
    if (below) yield* steps(below, `${path}/`, options);
  }
}

/** Those that are UTF-8, sorted. */
function names(folder: Folder, prefix: string, { skipped }: Walk): string[] {
  const all = folder.list().map(({ name }) => name);
  if (!all.some((name) => name.includes('\ufffd'))) return all.sort();
  return folder
    .listBytes()
    .flatMap(({ name }) => {
      const text = name.toString();
      if (name.equals(Buffer.from(text))) return text;
      skipped(shown(prefix + text), 'its name is not UTF-8');
      return [];
    })
    .sort();
}

function lookAt(folder: Folder, name: string, nowNs: bigint): ReturnType<typeof look> | undefined {
  try {
    return look(folder, name, nowNs);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function enter(folder: Folder, name: string): Folder | undefined {
  try {
    return folder.enter(name);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error))) return undefined;
    throw error;
  }
}

const MAX_SHOWN = 200;

/** As much of a path that no rule has kept short or clean as a person wants to see. */
function shown(path: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
  const clean = path.replace(/[\u0000-\u001f\u007f]/g, '\ufffd');
  return clean.length > MAX_SHOWN ? `${clean.slice(0, MAX_SHOWN)}…` : clean;
}
