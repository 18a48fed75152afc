import type { ChangeWorkspaceResponse } from '../../../../proto/gen/ahs/files/v1/files.ts';
import type { Desk } from '../../workspace/desk.ts';
import { keyOf } from '../../workspace/key.ts';
import type { ToolCall } from '../tool.ts';

export interface Text {
  path: string;
  bytes: Uint8Array;
  executable: boolean;
  /** The version it was made from; absent where whatever is there is replaced. */
  baseVersion?: number;
}

/** Puts one file. The same call again changes nothing, and is answered like the first. */
export async function put(
  desk: Desk,
  call: Pick<ToolCall, 'turn' | 'toolUseId'>,
  { path, bytes, executable, baseVersion }: Text,
): Promise<ChangeWorkspaceResponse> {
  const [content] = await desk.write([{ size: bytes.length, read: () => [bytes] }]);
  const value = { path, contentId: content?.contentId ?? '', executable, modifiedAt: undefined };
  return desk.change([{ kind: { $case: 'putFile', value } }], { baseVersion, key: keyOf(call) });
}
