import { type Static, Type } from 'typebox';
import { type ToolCallContext, ToolOutput } from '../../tool-calls/tool-call.ts';
import { ToolError } from '../../tool-calls/tool-error.ts';
import { type FilesClient, WorkspaceClient } from '../../workspace/workspace-client.ts';
import { workspaceFilePath } from './path.ts';
import { putFile } from './put.ts';
import { occurrenceLines, replaceAll } from './replace.ts';

const MAX_BYTES = 8 * 1024 * 1024;

const Input = Type.Object(
  {
    path: Type.String({ description: 'Relative to the workspace.' }),
    old_text: Type.String({
      minLength: 1,
      description: 'The exact text to replace, with enough context to occur only once.',
    }),
    new_text: Type.String({ description: 'The replacement.' }),
    replace_all: Type.Optional(Type.Boolean({ description: 'Replace all occurrences.' })),
  },
  { additionalProperties: false },
);

/** Replaces text in a file. A concurrent change by another writer is kept, and the edit goes to a conflict file. */
export function createEditFile(files: FilesClient) {
  return {
    usesWorkspace: true,
    input: Input,
    async run(
      { path: given, old_text, new_text, replace_all = false }: Static<typeof Input>,
      call: ToolCallContext,
    ) {
      const path = workspaceFilePath(given);
      const client = new WorkspaceClient(files, call.turn, call.signal);
      const { bytes, text, version, executable } = await load(client, path);
      const file = { path, executable, baseVersion: version };
      const lines = occurrenceLines(text, old_text);
      const problem = problemOf(path, lines, replace_all);
      if (problem !== undefined) {
        // An earlier attempt may have made the edit. Then its idempotency key is known and this change is a replay.
        if (call.attempt === 1) throw new ToolError(problem);
        const { replayed, workspace } = await putFile(client, call, { ...file, bytes });
        if (!replayed) throw new ToolError(problem);
        return new ToolOutput(`Edited ${path}.`, { workspaceVersion: workspace?.version });
      }
      const edited = Buffer.from(replaceAll(text, old_text, new_text));
      const { workspace, conflicts } = await putFile(client, call, { ...file, bytes: edited });
      const facts = { workspaceVersion: workspace?.version };
      const [conflict] = conflicts;
      if (conflict) {
        const message = `${path} was changed by another writer at the same time. Your version was saved as ${conflict.keptAs}.`;
        return new ToolOutput(message, { ...facts, isError: true });
      }
      const where = `line${lines.length > 1 ? 's' : ''} ${lines.slice(0, MAX_SHOWN_LINES).join(', ')}`;
      const more = lines.length > MAX_SHOWN_LINES ? ' …' : '';
      return new ToolOutput(`Replaced ${count(lines.length)} in ${path}: ${where}${more}.`, facts);
    },
  };
}

const MAX_SHOWN_LINES = 20;

const count = (places: number) => `${places} place${places === 1 ? '' : 's'}`;

async function load(client: WorkspaceClient, path: string) {
  const found = await client.find(path);
  if (!found) throw new ToolError(`There is no file ${path}.`);
  const { entry, version } = found;
  if (entry.kind !== 'file') throw new ToolError(`${path} is a ${entry.kind}.`);
  if (entry.size > MAX_BYTES)
    throw new ToolError(`${path} is larger than ${MAX_BYTES} bytes. Edit it with a command.`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of client.read(path, version)) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  return { bytes, text: textOf(bytes, path), version, executable: entry.executable };
}

function textOf(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ToolError(`${path} is not UTF-8 text. Edit it with a command.`);
  }
}

function problemOf(path: string, lines: readonly number[], isAll: boolean): string | undefined {
  if (lines.length === 0)
    return `old_text is not in ${path}. It must match exactly, including blanks and line ends.`;
  if (lines.length === 1 || isAll) return undefined;
  const where = lines.slice(0, MAX_SHOWN_LINES).join(', ');
  return `old_text is in ${path} ${lines.length} times (lines ${where}). Add context or set replace_all.`;
}
