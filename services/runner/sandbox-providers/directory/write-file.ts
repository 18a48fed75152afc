import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  futimesSync,
  openSync,
  write,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import type { FileAttributes } from '../../sandbox/workspace-tree.ts';

const writeAsync = promisify(write);
const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
/** Up to this size, a file is written synchronously, which only fills the page cache. */
const SYNC_BYTES = 256 * 1024;

/** The owner of written files. */
export interface Ownership {
  uid: number;
  gid: number;
}

/** The modes of files of a workspace. */
const WORKSPACE_MODES = { file: 0o644, executable: 0o755 };

/** Creates a file with its content, mode and times. */
export async function writeFile(
  path: string,
  content: AsyncIterable<Uint8Array>,
  { executable, modifiedAt }: FileAttributes,
  owner: Ownership | undefined,
  modes = WORKSPACE_MODES,
): Promise<void> {
  const fd = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    let written = 0;
    for await (const chunk of content) {
      if (written + chunk.length <= SYNC_BYTES) writeAll(fd, chunk);
      else await writeAllAsync(fd, chunk);
      written += chunk.length;
    }
    if (owner) fchownSync(fd, owner.uid, owner.gid);
    fchmodSync(fd, executable ? modes.executable : modes.file);
    futimesSync(fd, modifiedAt, modifiedAt);
  } finally {
    closeSync(fd);
  }
}

function writeAll(fd: number, chunk: Uint8Array): void {
  for (let at = 0; at < chunk.length; ) at += writeSync(fd, chunk, at);
}

async function writeAllAsync(fd: number, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await writeAsync(fd, chunk, at)).bytesWritten;
}
