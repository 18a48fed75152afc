import { type Static, Type } from 'typebox';
import type { ToolCallContext } from '../../tool-calls/tool-call.ts';
import { ToolError } from '../../tool-calls/tool-error.ts';
import { type FilesClient, WorkspaceClient } from '../../workspace/workspace-client.ts';
import { linesOf, looksBinary } from './lines.ts';
import { workspaceFilePath } from './path.ts';

const DEFAULT_LINES = 2_000;
const LINE_CHARS = 2_000;
/** Limit of all shown lines together, in UTF-16 units. */
const SHOWN_CHARS = 100_000;

const Input = Type.Object(
  {
    path: Type.String({ description: 'Relative to the workspace, for example src/main.ts.' }),
    offset: Type.Optional(Type.Integer({ minimum: 1, description: 'The number of the first line, from 1.' })),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10_000,
        description: `Maximum number of lines; ${DEFAULT_LINES} by default.`,
      }),
    ),
  },
  { additionalProperties: false },
);

/** Returns lines of a text file, each preceded by its number and a tab. */
export function createReadFile(files: FilesClient) {
  return {
    usesWorkspace: true,
    input: Input,
    async run(
      { path: given, offset = 1, limit = DEFAULT_LINES }: Static<typeof Input>,
      call: ToolCallContext,
    ) {
      const path = workspaceFilePath(given);
      const workspace = new WorkspaceClient(files, call.turn, call.signal);
      const found = await workspace.find(path);
      if (!found) throw new ToolError(`There is no file ${path}.`);
      const { kind, size, target } = found.entry;
      if (kind === 'directory') throw new ToolError(`${path} is a directory. Use list_files.`);
      if (kind === 'symlink') return `${path} is a symlink to ${target}. This tool does not follow symlinks.`;
      if (size === 0) return `${path} is empty.`;
      let isBinary = false;
      const bytes = untilRefused(workspace.read(path, found.version), (first) => {
        isBinary = looksBinary(first);
        return isBinary;
      });
      const shown = await show(linesOf(bytes, LINE_CHARS), offset, limit);
      return isBinary ? `${path} is a binary file of ${size} bytes and is not shown.` : shown;
    },
  };
}

/** Yields the chunks unless `refuses` returns true for the first one. */
async function* untilRefused(bytes: AsyncIterable<Uint8Array>, refuses: (first: Uint8Array) => boolean) {
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
      const next = `[There are more lines. Continue with offset ${number}.]`;
      return [...shown, next].join('\n');
    }
    last = number;
    if (number < offset) continue;
    const line = `${number}\t${text}${isCut ? ' [The line was cut.]' : ''}`;
    shown.push(line);
    chars += line.length;
  }
  if (shown.length === 0 && last > 0) throw new ToolError(`The file has only ${last} lines.`);
  return shown.join('\n');
}
