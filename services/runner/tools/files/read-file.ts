import { type Static, Type } from 'typebox';
import { Desk, type FilesClient } from '../../workspace/desk.ts';
import type { ToolCall } from '../tool.ts';
import { linesOf, looksBinary } from './lines.ts';
import { filePathIn } from './path.ts';

const DEFAULT_LINES = 2_000;
const LINE_CHARS = 2_000;
/** Of all lines that are shown together, in UTF-16 units. */
const SHOWN_CHARS = 100_000;

const Input = Type.Object(
  {
    path: Type.String({ description: 'Relative to the workspace, for example src/main.ts.' }),
    offset: Type.Optional(Type.Integer({ minimum: 1, description: 'The first line to show, from 1.' })),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10_000,
        description: `How many lines to show; ${DEFAULT_LINES} otherwise.`,
      }),
    ),
  },
  { additionalProperties: false },
);

/** Shows lines of a text file, each behind its number and a tab. */
export function createReadFile(files: FilesClient) {
  return {
    usesWorkspace: true,
    input: Input,
    async run({ path: given, offset = 1, limit = DEFAULT_LINES }: Static<typeof Input>, call: ToolCall) {
      const path = filePathIn(given);
      const desk = new Desk(files, call.turn, call.signal);
      const found = await desk.find(path);
      if (!found) throw new Error(`There is no file ${path}.`);
      const { kind, size, target } = found.entry;
      if (kind === 'directory') throw new Error(`${path} is a directory; list_files shows what is in it.`);
      if (kind === 'symlink') return `${path} is a symlink to ${target}. Symlinks are not followed here.`;
      if (size === 0) return `${path} is empty.`;
      let isBinary = false;
      const bytes = probed(desk.read(path, found.version), (first) => {
        isBinary = looksBinary(first);
        return isBinary;
      });
      const shown = await show(linesOf(bytes, LINE_CHARS), offset, limit);
      return isBinary ? `${path} is a binary file of ${size} bytes and is not shown.` : shown;
    },
  };
}

/** Ends at once when what comes first is not wanted. */
async function* probed(bytes: AsyncIterable<Uint8Array>, refuses: (first: Uint8Array) => boolean) {
  let isFirst = true;
  for await (const chunk of bytes) {
    if (isFirst && refuses(chunk)) return;
    isFirst = false;
    yield chunk;
  }
}

async function show(lines: ReturnType<typeof linesOf>, offset: number, limit: number): Promise<string> {
  const shown: string[] = [];
  let chars = 0;
  let last = 0;
  for await (const { number, text, isCut } of lines) {
    if (number >= offset + limit || chars > SHOWN_CHARS) {
      const next = `[There is more: go on with offset ${number}.]`;
      return [...shown, next].join('\n');
    }
    last = number;
    if (number < offset) continue;
    const line = `${number}\t${text}${isCut ? ' [The line goes on.]' : ''}`;
    shown.push(line);
    chars += line.length;
  }
  if (shown.length === 0 && last > 0) throw new Error(`The file has only ${last} lines.`);
  return shown.join('\n');
}
