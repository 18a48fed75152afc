import { type Static, Type } from 'typebox';
import type { Clock } from '../../../../lib/clock.ts';
import { Refusal } from '../../../../lib/errors.ts';
import { Places } from '../../places.ts';
import { Desk, type FilesClient } from '../../workspace/desk.ts';
import { looksBinary } from '../files/lines.ts';
import { pathIn } from '../files/path.ts';
import type { ToolCall } from '../tool.ts';
import { Searcher } from './searcher.ts';

const DEFAULT_LINES = 200;
/** Larger files are passed over, and said to be. */
const MAX_BYTES = 4 * 1024 * 1024;
const SHOWN_CHARS = 100_000;
/** Names that are looked at together, and the most of all. */
const BATCH = 1_000;
const MAX_FILES = 200_000;
/** Files that are fetched ahead of the one that is searched. */
const AHEAD = 8;
/** Searches at the same time; the others wait. */
const THREADS = 4;

const Input = Type.Object(
  {
    pattern: Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: 'A regular expression as in JavaScript, tried on each line.',
    }),
    path: Type.Optional(Type.String({ description: 'A directory or a file; the workspace otherwise.' })),
    glob: Type.Optional(
      Type.String({
        maxLength: 200,
        description:
          'Only in files of such names, for example *.ts, or of such paths, for example src/**/*.ts.',
      }),
    ),
    ignore_case: Type.Optional(Type.Boolean()),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000, description: `Lines to show; ${DEFAULT_LINES} otherwise.` }),
    ),
  },
  { additionalProperties: false },
);

/** Lines in which a pattern is found, each behind its path and number. */
export function createSearchFiles(files: FilesClient, clock: Clock) {
  const threads = new Places(THREADS);
  return {
    usesWorkspace: true,
    input: Input,
    run(input: Static<typeof Input>, call: ToolCall) {
      const path = pathIn(input.path ?? '');
      const desk = new Desk(files, call.turn, call.signal);
      return threads.take(async () => {
        const { pattern, ignore_case: ignoreCase = false, glob = '', limit = DEFAULT_LINES } = input;
        call.signal.throwIfAborted();
        await using searcher = new Searcher({ pattern, ignoreCase, glob }, clock);
        // What is thrown here ends the thread, whatever it is busy with.
        const left = new Promise<never>((_, reject) => {
          call.signal.addEventListener('abort', () => reject(new Error('The search was stopped.')), {
            once: true,
          });
        });
        left.catch(() => {});
        return await Promise.race([search(desk, path, searcher, limit), left]);
      });
    },
  };
}

async function search(desk: Desk, path: string, searcher: Searcher, limit: number): Promise<string> {
  const shown: string[] = [];
  let chars = 0;
  let passedOver = 0;
  for await (const file of ahead(chosen(desk, path, searcher), (one) => load(desk, one))) {
    if (!file.bytes) passedOver++;
    if (!file.bytes || looksBinary(file.bytes)) continue;
    for (const { line, text } of await searcher.search(file.bytes)) {
      if (shown.length >= limit || chars > SHOWN_CHARS)
        return [...shown, `[There is more than these ${shown.length} lines.]`].join('\n');
      shown.push(`${file.path}:${line}: ${text}`);
      chars += text.length + file.path.length;
    }
  }
  if (shown.length === 0) shown.push('Nothing was found.');
  if (passedOver > 0) shown.push(`[${passedOver} files of more than ${MAX_BYTES} bytes were not searched.]`);
  return shown.join('\n');
}

interface Candidate {
  path: string;
  size: number;
}

/** The files that are to be searched. */
async function* chosen(desk: Desk, path: string, searcher: Searcher): AsyncGenerator<Candidate> {
  const found = path === '' ? undefined : await desk.find(path);
  if (path !== '' && !found) throw new Error(`There is no ${path}.`);
  if (found?.entry.kind === 'file') return yield found.entry;
  let batch = new Map<string, Candidate>();
  let seen = 0;
  async function* wanted() {
    for (const one of await searcher.wanted([...batch.keys()])) {
      const candidate = batch.get(one);
      if (candidate) yield candidate;
    }
    batch = new Map();
  }
  for await (const { path: name, kind, size } of desk.list(path, true)) {
    if (kind !== 'file') continue;
    if (++seen > MAX_FILES) throw new Error(`There are more than ${MAX_FILES} files: search in a directory.`);
    batch.set(name, { path: name, size });
    if (batch.size === BATCH) yield* wanted();
  }
  yield* wanted();
}

/** Undefined bytes for what is too large, and none for what is not there any more. */
async function load(desk: Desk, { path, size }: Candidate): Promise<{ path: string; bytes?: Uint8Array }> {
  if (size > MAX_BYTES) return { path };
  const chunks: Uint8Array[] = [];
  try {
    if (size > 0) for await (const chunk of desk.read(path)) chunks.push(chunk);
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'FILE_NOT_FOUND')) throw error;
  }
  return { path, bytes: Buffer.concat(chunks) };
}

/** Works on a few at the same time, and gives the results in their order. */
async function* ahead<Given, Made>(
  given: AsyncIterable<Given>,
  make: (one: Given) => Promise<Made>,
): AsyncGenerator<Made> {
  const making: Promise<Made>[] = [];
  for await (const one of given) {
    const made = make(one);
    made.catch(() => {});
    making.push(made);
    if (making.length === AHEAD) yield* making.splice(0, 1);
  }
  yield* making;
}
