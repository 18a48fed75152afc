import { type FileHandle, open } from 'node:fs/promises';
import type { PutSkillTreeRequest, SkillTree } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { UnpackedFile } from './messages.ts';

const MESSAGE_BYTES = 256 * 1024;

/** The messages that store unpacked files in the service files. `contents` is the path of their bytes. */
export async function* treeMessages(
  tree: SkillTree,
  files: readonly UnpackedFile[],
  contents: string,
): AsyncGenerator<PutSkillTreeRequest> {
  await using source = await open(contents);
  yield { kind: { $case: 'tree', value: tree } };
  for (const { path, size, executable, offset } of files) {
    yield { kind: { $case: 'file', value: { path, size, executable } } };
    for (let from = 0; from < size; from += MESSAGE_BYTES) {
      const value = await read(source, offset + from, Math.min(MESSAGE_BYTES, size - from));
      yield { kind: { $case: 'bytes', value } };
    }
  }
}

async function read(source: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length);
  const { bytesRead } = await source.read(bytes, 0, length, position);
  if (bytesRead < length) throw new Error('the unpacked bytes of a skill are incomplete');
  return bytes;
}
