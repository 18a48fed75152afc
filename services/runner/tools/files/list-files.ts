import { type Static, Type } from 'typebox';
import type { Entry } from '../../../../proto/gen/ahs/files/v1/files.ts';
import { Desk, type FilesClient } from '../../workspace/desk.ts';
import type { ToolCall } from '../tool.ts';
import { pathIn } from './path.ts';

const DEFAULT_ENTRIES = 500;

const Input = Type.Object(
  {
    path: Type.Optional(Type.String({ description: 'A directory; the workspace otherwise.' })),
    recursive: Type.Optional(Type.Boolean({ description: 'Everything below it.' })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 5_000, description: `${DEFAULT_ENTRIES} otherwise.` }),
    ),
  },
  { additionalProperties: false },
);

/** One line for each: a directory ends with a slash, a file is followed by its size, a symlink by where it points. */
export function createListFiles(files: FilesClient) {
  return {
    usesWorkspace: true,
    input: Input,
    async run(
      { path: given = '', recursive = false, limit = DEFAULT_ENTRIES }: Static<typeof Input>,
      call: ToolCall,
    ) {
      const path = pathIn(given);
      const desk = new Desk(files, call.turn, call.signal);
      const lines: string[] = [];
      for await (const entry of desk.list(path, recursive)) {
        if (lines.length === limit) return [...lines, `[There is more than these ${limit}.]`].join('\n');
        lines.push(lineOf(entry));
      }
      return lines.length === 0 ? `${path || 'The workspace'} is empty.` : lines.join('\n');
    },
  };
}

function lineOf({ path, kind, size, executable, target }: Entry): string {
  if (kind === 'directory') return `${path}/`;
  if (kind === 'symlink') return `${path} -> ${target}`;
  return `${path}\t${size} bytes${executable ? ', executable' : ''}`;
}
