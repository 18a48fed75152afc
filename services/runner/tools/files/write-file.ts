import { type Static, Type } from 'typebox';
import { type ToolCallContext, ToolOutput } from '../../tool-calls/tool-call.ts';
import { ToolError } from '../../tool-calls/tool-error.ts';
import { type FilesClient, WorkspaceClient } from '../../workspace/workspace-client.ts';
import { workspaceFilePath } from './path.ts';
import { putFile } from './put.ts';

const Input = Type.Object(
  {
    path: Type.String({ description: 'Relative to the workspace. Missing directories are created.' }),
    content: Type.String({ description: 'The whole content of the file.' }),
  },
  { additionalProperties: false },
);

/** Creates or replaces a file. An existing file keeps its executable bit. */
export function createWriteFile(files: FilesClient) {
  return {
    usesWorkspace: true,
    input: Input,
    async run({ path: given, content }: Static<typeof Input>, call: ToolCallContext) {
      const path = workspaceFilePath(given);
      const client = new WorkspaceClient(files, call.turn, call.signal);
      const found = await client.find(path);
      if (found?.entry.kind === 'directory') throw new ToolError(`${path} is a directory.`);
      const bytes = Buffer.from(content);
      const { workspace } = await putFile(client, call, {
        path,
        bytes,
        executable: found?.entry.executable ?? false,
      });
      return new ToolOutput(`Wrote ${bytes.length} bytes to ${path}.`, {
        workspaceVersion: workspace?.version,
      });
    },
  };
}
