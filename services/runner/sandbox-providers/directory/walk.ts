import { setImmediate } from 'node:timers/promises';
import { refuse } from '../../../../lib/errors.ts';
import { pathProblem } from '../../../../lib/paths.ts';
import { type InspectedEntry, inspect } from './inspect.ts';
import { errorCode, type OpenDirectory } from './open-directory.ts';

/** Entries that are inspected before other work of the process may run: about one millisecond. */
const BATCH_SIZE = 128;

export interface WalkOptions {
  /** Called for each path, for a directory before its entries. */
  found(path: string, entry: InspectedEntry['entry'], inspected: InspectedEntry): void;
  skipped(path: string, reason: string): void;
  /** A time of the clock of the file system that holds the tree. */
  nowNs: bigint;
  /** Limit of directories, and of all other entries. */
  maxFiles: number;
}

/** Visits a tree in the order of its names. Throws QUOTA_EXCEEDED when it exceeds `maxFiles`. */
export async function walk(root: OpenDirectory, options: WalkOptions): Promise<void> {
  const { maxFiles } = options;
  const seen = { directory: 0, file: 0 };
  for (const kind of visit(root, '', options)) {
    seen[kind] += 1;
    if (seen[kind] > maxFiles)
      throw refuse(
        'QUOTA_EXCEEDED',
        `The workspace has more than ${maxFiles} ${kind === 'file' ? 'files' : 'directories'}.`,
      );
    if ((seen.directory + seen.file) % BATCH_SIZE === 0) await setImmediate();
  }
}

/** Yields the kind of each entry before it is found or skipped; entries that are no directories count as files. */
function* visit(
  directory: OpenDirectory,
  prefix: string,
  options: WalkOptions,
): Generator<'directory' | 'file'> {
  for (const name of names(directory, prefix, options)) {
    const path = prefix + name;
    const problem = pathProblem(path);
    if (problem !== undefined) {
      yield 'file';
      options.skipped(printable(path), problem);
      continue;
    }
    const found = tryInspect(directory, name, options.nowNs);
    yield found?.kind === 'entry' && found.entry.kind === 'directory' ? 'directory' : 'file';
    if (found?.kind === 'skipped') options.skipped(path, found.reason);
    if (found?.kind !== 'entry') continue;
    using child = found.entry.kind === 'directory' ? tryOpen(directory, name) : undefined;
    if (found.entry.kind === 'directory' && !child) continue;
    options.found(path, found.entry, found);
    if (child) yield* visit(child, `${path}/`, options);
  }
}

/** Returns the names that are UTF-8, sorted. */
function names(directory: OpenDirectory, prefix: string, { skipped }: WalkOptions): string[] {
  const all = directory.list().map(({ name }) => name);
  if (!all.some((name) => name.includes('\ufffd'))) return all.sort();
  return directory
    .listBytes()
    .flatMap(({ name }) => {
      const text = name.toString();
      if (name.equals(Buffer.from(text))) return text;
      skipped(printable(prefix + text), 'its name is not UTF-8');
      return [];
    })
    .sort();
}

function tryInspect(
  directory: OpenDirectory,
  name: string,
  nowNs: bigint,
): ReturnType<typeof inspect> | undefined {
  try {
    return inspect(directory, name, nowNs);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function tryOpen(directory: OpenDirectory, name: string): OpenDirectory | undefined {
  try {
    return directory.openChild(name);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCode(error))) return undefined;
    throw error;
  }
}

const MAX_PRINTED = 200;

/** Shortens an invalid path, and replaces its control characters, for display. */
function printable(path: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are replaced here
  const clean = path.replace(/[\u0000-\u001f\u007f]/g, '\ufffd');
  return clean.length > MAX_PRINTED ? `${clean.slice(0, MAX_PRINTED)}…` : clean;
}
