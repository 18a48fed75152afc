import { type Static, Type } from 'typebox';
import type { Clock } from '../../../../lib/clock.ts';
import { Refusal } from '../../../../lib/errors.ts';
import { Semaphore } from '../../../../lib/semaphore.ts';
import type { ToolCallContext } from '../../tool-calls/tool-call.ts';
import { ToolError } from '../../tool-calls/tool-error.ts';
import { type FilesClient, WorkspaceClient } from '../../workspace/workspace-client.ts';
import { looksBinary } from '../files/lines.ts';
import { workspacePath } from '../files/path.ts';
import { Searcher } from './searcher.ts';

const DEFAULT_LINES = 200;
/** Larger files are skipped and counted in the result. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const SHOWN_CHARS = 100_000;
/** The number of paths that are matched against the glob together. */
const PATH_BATCH = 1_000;
const MAX_FILES = 200_000;
/** The number of files that are loaded ahead of the one that is searched. */
const READ_AHEAD = 8;
/** Limit of concurrent searches of a runner. */
const MAX_SEARCHES = 4;

const Input = Type.Object(
  {
    pattern: Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: 'A JavaScript regular expression that is matched against each line.',
    }),
    path: Type.Optional(Type.String({ description: 'A directory or a file; the workspace by default.' })),
    glob: Type.Optional(
      Type.String({
        maxLength: 200,
        description:
          'Search only files whose names match, for example *.ts, or whose paths match, for example src/**/*.ts.',
      }),
    ),
    ignore_case: Type.Optional(Type.Boolean()),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000,
        description: `Maximum number of lines; ${DEFAULT_LINES} by default.`,
      }),
    ),
  },
  { additionalProperties: false },
);

/** Returns the lines that match a pattern, each preceded by its path and number. */
export function createSearchFiles(files: FilesClient, clock: Clock) {
  const searches = new Semaphore(MAX_SEARCHES);
  return {
    usesWorkspace: true,
    input: Input,
    run(input: Static<typeof Input>, call: ToolCallContext) {
      const path = workspacePath(input.path ?? '');
      const workspace = new WorkspaceClient(files, call.turn, call.signal);
      return searches.run(async () => {
        const { pattern, ignore_case: ignoreCase = false, glob = '', limit = DEFAULT_LINES } = input;
        call.signal.throwIfAborted();
        await using searcher = new Searcher({ pattern, ignoreCase, glob }, clock);
        // Rejecting disposes the searcher, which terminates a thread that is busy with a pattern.
        const aborted = new Promise<never>((_, reject) => {
          call.signal.addEventListener('abort', () => reject(new ToolError('The search was stopped.')), {
            once: true,
          });
        });
        aborted.catch(() => {});
        return await Promise.race([search(workspace, path, searcher, limit), aborted]);
      });
    },
  };
}

async function search(
  workspace: WorkspaceClient,
  path: string,
  searcher: Searcher,
  limit: number,
): Promise<string> {
  const shown: string[] = [];
  let chars = 0;
  let skipped = 0;
  for await (const file of readAhead(matchingFiles(workspace, path, searcher), (one) =>
    load(workspace, one),
  )) {
    if (!file.bytes) skipped++;
    if (!file.bytes || looksBinary(file.bytes)) continue;
    for (const { line, text } of await searcher.search(file.bytes)) {
      if (shown.length >= limit || chars > SHOWN_CHARS)
        return [...shown, `[There are more than ${shown.length} matching lines.]`].join('\n');
      shown.push(`${file.path}:${line}: ${text}`);
      chars += text.length + file.path.length;
    }
  }
  if (shown.length === 0) shown.push('No line matches.');
  if (skipped > 0) shown.push(`[${skipped} files larger than ${MAX_FILE_BYTES} bytes were not searched.]`);
  return shown.join('\n');
}

interface Candidate {
  path: string;
  size: number;
}

/** The files below a path that match the glob. */
async function* matchingFiles(
  workspace: WorkspaceClient,
  path: string,
  searcher: Searcher,
): AsyncGenerator<Candidate> {
  const found = path === '' ? undefined : await workspace.find(path);
  if (path !== '' && !found) throw new ToolError(`There is no file or directory ${path}.`);
  if (found?.entry.kind === 'file') return yield found.entry;
  let batch = new Map<string, Candidate>();
  let seen = 0;
  async function* flush() {
    for (const one of await searcher.filterPaths([...batch.keys()])) {
      const candidate = batch.get(one);
      if (candidate) yield candidate;
    }
    batch = new Map();
  }
  for await (const { path: name, kind, size } of workspace.list(path, true)) {
    if (kind !== 'file') continue;
    if (++seen > MAX_FILES)
      throw new ToolError(`There are more than ${MAX_FILES} files. Search in a directory.`);
    batch.set(name, { path: name, size });
    if (batch.size === PATH_BATCH) yield* flush();
  }
  yield* flush();
}

/** `bytes` is undefined for a file that is too large and empty for a file that was removed meanwhile. */
async function load(
  workspace: WorkspaceClient,
  { path, size }: Candidate,
): Promise<{ path: string; bytes?: Uint8Array }> {
  if (size > MAX_FILE_BYTES) return { path };
  const chunks: Uint8Array[] = [];
  try {
    if (size > 0) for await (const chunk of workspace.read(path)) chunks.push(chunk);
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'FILE_NOT_FOUND')) throw error;
  }
  return { path, bytes: Buffer.concat(chunks) };
}

/** Loads up to READ_AHEAD items concurrently and yields them in order. */
async function* readAhead<Item, Loaded>(
  items: AsyncIterable<Item>,
  loadItem: (item: Item) => Promise<Loaded>,
): AsyncGenerator<Loaded> {
  const loading: Promise<Loaded>[] = [];
  for await (const item of items) {
    const loaded = loadItem(item);
    loaded.catch(() => {});
    loading.push(loaded);
    if (loading.length === READ_AHEAD) yield* loading.splice(0, 1);
  }
  yield* loading;
}
