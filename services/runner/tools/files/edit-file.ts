import { type Static, Type } from 'typebox';
import { Desk, type FilesClient } from '../../workspace/desk.ts';
import { Answer, type ToolCall } from '../tool.ts';
import { filePathIn } from './path.ts';
import { put } from './put.ts';
import { placesOf, replaced } from './replace.ts';

const MAX_BYTES = 8 * 1024 * 1024;

const Input = Type.Object(
  {
    path: Type.String({ description: 'Relative to the workspace.' }),
    old_text: Type.String({
      minLength: 1,
      description: 'What stands there, exactly, with enough around it to be there only once.',
    }),
    new_text: Type.String({ description: 'What is to stand there instead.' }),
    replace_all: Type.Optional(Type.Boolean({ description: 'Replace it everywhere.' })),
  },
  { additionalProperties: false },
);

/** Replaces a piece of a text file. What somebody else has written meanwhile is not lost. */
export function createEditFile(files: FilesClient) {
  return {
    usesWorkspace: true,
    input: Input,
    async run(
      { path: given, old_text, new_text, replace_all = false }: Static<typeof Input>,
      call: ToolCall,
    ) {
      const path = filePathIn(given);
      const desk = new Desk(files, call.turn, call.signal);
      const { bytes, text, version, executable } = await load(desk, path);
      const file = { path, executable, baseVersion: version };
      const lines = placesOf(text, old_text);
      const problem = problemOf(path, lines, replace_all);
      if (problem !== undefined) {
        // A call that is repeated may have done it already; then its change is known, and this one is none.
        if (call.attempt === 1) throw new Error(problem);
        const { replayed, workspace } = await put(desk, call, { ...file, bytes });
        if (!replayed) throw new Error(problem);
        return new Answer(`Edited ${path}.`, { workspaceVersion: workspace?.version });
      }
      const edited = Buffer.from(replaced(text, old_text, new_text));
      const { workspace, conflicts } = await put(desk, call, { ...file, bytes: edited });
      const facts = { workspaceVersion: workspace?.version };
      const [conflict] = conflicts;
      if (conflict) {
        const said = `Somebody else has changed ${path} meanwhile and keeps it; your edit is in ${conflict.keptAs}.`;
        return new Answer(said, { ...facts, isError: true });
      }
      const where = `line${lines.length > 1 ? 's' : ''} ${lines.slice(0, SHOWN).join(', ')}`;
      const more = lines.length > SHOWN ? ' …' : '';
      return new Answer(`Replaced ${count(lines.length)} in ${path}: ${where}${more}.`, facts);
    },
  };
}

const SHOWN = 20;

const count = (places: number) => `${places} place${places === 1 ? '' : 's'}`;

async function load(desk: Desk, path: string) {
  const found = await desk.find(path);
  if (!found) throw new Error(`There is no file ${path}.`);
  const { entry, version } = found;
  if (entry.kind !== 'file') throw new Error(`${path} is a ${entry.kind}.`);
  if (entry.size > MAX_BYTES)
    throw new Error(`${path} has more than ${MAX_BYTES} bytes: edit it with a command.`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of desk.read(path, version)) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  return { bytes, text: textOf(bytes, path), version, executable: entry.executable };
}

function textOf(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error(`${path} is not UTF-8 text: edit it with a command.`);
  }
}

function problemOf(path: string, lines: readonly number[], isAll: boolean): string | undefined {
  if (lines.length === 0)
    return `old_text is not in ${path}. It has to match exactly, blanks and line ends too.`;
  if (lines.length === 1 || isAll) return undefined;
  const where = lines.slice(0, SHOWN).join(', ');
  return `old_text is in ${path} ${lines.length} times (lines ${where}). Give more around it, or replace_all.`;
}
