import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { PutSkillTreeRequest, SkillTree } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { UnpackedFile } from './messages.ts';

const MESSAGE_BYTES = 256 * 1024;

/** The messages that store unpacked files in the service files. */
export async function* treeMessages(
  tree: SkillTree,
  files: readonly UnpackedFile[],
): AsyncGenerator<PutSkillTreeRequest> {
  yield { kind: { $case: 'tree', value: tree } };
  for (const { path, size, executable, source } of files) {
    yield { kind: { $case: 'file', value: { path, size, executable } } };
    for await (const value of contentOf(source, size)) yield { kind: { $case: 'bytes', value } };
  }
}

/** A stream allocates a whole message for each file. With many small files, V8 would collect garbage most of the time. */
async function* contentOf(source: string, size: number): AsyncGenerator<Buffer> {
  if (size > MESSAGE_BYTES) yield* createReadStream(source, { highWaterMark: MESSAGE_BYTES });
  else if (size > 0) yield await readFile(source);
}
