import type { ChangeWorkspaceResponse } from '../../../../proto/gen/ahs/files/v1/files.ts';
import type { ToolCallContext } from '../../tool-calls/tool-call.ts';
import { changeKey, type WorkspaceClient } from '../../workspace/workspace-client.ts';

interface FileToPut {
  path: string;
  bytes: Uint8Array;
  executable: boolean;
  /** The version the content is based on; absent to replace the file unconditionally. */
  baseVersion?: number;
}

/** Writes one file. Repeating the same call changes nothing and returns the first response. */
export async function putFile(
  workspace: WorkspaceClient,
  call: Pick<ToolCallContext, 'turn' | 'toolUseId'>,
  { path, bytes, executable, baseVersion }: FileToPut,
): Promise<ChangeWorkspaceResponse> {
  const [content] = await workspace.write([{ size: bytes.length, read: () => [bytes] }]);
  const value = { path, contentId: content?.contentId ?? '', executable, modifiedAt: undefined };
  return workspace.change([{ kind: { $case: 'putFile', value } }], { baseVersion, key: changeKey(call) });
}
