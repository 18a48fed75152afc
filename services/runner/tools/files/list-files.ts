import { type Static, Type } from 'typebox';
import type { Entry } from '../../../../proto/gen/ahs/files/v1/files.ts';
import type { ToolCallContext } from '../../tool-calls/tool-call.ts';
import { type FilesClient, WorkspaceClient } from '../../workspace/workspace-client.ts';
import { workspacePath } from './path.ts';

const DEFAULT_ENTRIES = 500;

const Input = Type.Object(
  {
    path: Type.Optional(Type.String({ description: 'A directory; the workspace by default.' })),
    recursive: Type.Optional(Type.Boolean({ description: 'List everything below the directory.' })),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 5_000,
        description: `Maximum number of entries; ${DEFAULT_ENTRIES} by default.`,
      }),
    ),
  },
  { additionalProperties: false },
);

/** Returns one line per entry: directories end with a slash, files show their size, symlinks show their target. */
export function createListFiles(files: FilesClient) {
  return {
    usesWorkspace: true,
    input: Input,
    async run(
      { path: given = '', recursive = false, limit = DEFAULT_ENTRIES }: Static<typeof Input>,
      call: ToolCallContext,
    ) {
      const path = workspacePath(given);
      const workspace = new WorkspaceClient(files, call.turn, call.signal);
      const lines: string[] = [];
      for await (const entry of workspace.list(path, recursive)) {
        if (lines.length === limit) return [...lines, `[There are more than ${limit} entries.]`].join('\n');
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
