import { type Static, Type } from 'typebox';
import { Desk, type FilesClient } from '../../workspace/desk.ts';
import { Answer, type ToolCall } from '../tool.ts';
import { filePathIn } from './path.ts';
import { put } from './put.ts';

const Input = Type.Object(
  {
    path: Type.String({ description: 'Relative to the workspace; directories above it are made.' }),
    content: Type.String({ description: 'All of the file.' }),
  },
  { additionalProperties: false },
);

/** Writes a file whole, over whatever file is there; it stays executable if it was. */
export function createWriteFile(files: FilesClient) {
  return {
    usesWorkspace: true,
    input: Input,
    async run({ path: given, content }: Static<typeof Input>, call: ToolCall) {
      const path = filePathIn(given);
      const desk = new Desk(files, call.turn, call.signal);
      const found = await desk.find(path);
      if (found?.entry.kind === 'directory') throw new Error(`${path} is a directory.`);
      const bytes = Buffer.from(content);
      const { workspace } = await put(desk, call, {
        path,
        bytes,
        executable: found?.entry.executable ?? false,
      });
      return new Answer(`Wrote ${bytes.length} bytes to ${path}.`, { workspaceVersion: workspace?.version });
    },
  };
}
