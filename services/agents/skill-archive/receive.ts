import { createHash } from 'node:crypto';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { refuse } from '../../../lib/errors.ts';
import type { CreateSkillVersionRequest } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { SKILL_LIMITS } from '../domain/skill-limits.ts';

interface ReceivedArchive {
  /** The path of the archive on this machine. */
  path: string;
  /** The path for the bytes of its files. */
  contents: string;
  sha256: Buffer;
}

/** Calls `work` with an archive that was received into a temporary directory, which is removed afterwards. */
export async function withArchive<Result>(
  messages: AsyncIterator<CreateSkillVersionRequest>,
  work: (archive: ReceivedArchive) => Promise<Result>,
): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), 'ahs-skill-'));
  try {
    const path = join(directory, 'archive');
    await using file = await open(path, 'wx', 0o600);
    const sha256 = await receive(messages, file);
    return await work({ path, contents: join(directory, 'contents'), sha256 });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function receive(
  messages: AsyncIterator<CreateSkillVersionRequest>,
  file: FileHandle,
): Promise<Buffer> {
  const hash = createHash('sha256');
  let size = 0;
  for (let { done, value } = await messages.next(); !done; { done, value } = await messages.next()) {
    if (value.kind?.$case !== 'bytes')
      throw refuse('INVALID_REQUEST', 'Every message of an archive after the first one must be `bytes`.');
    const bytes = value.kind.value;
    size += bytes.length;
    if (size > SKILL_LIMITS.archiveBytes)
      throw refuse('FILE_TOO_LARGE', 'The archive must have at most 20 MiB.');
    hash.update(bytes);
    await file.write(bytes);
  }
  return hash.digest();
}
