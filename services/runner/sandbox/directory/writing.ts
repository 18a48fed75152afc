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
import type { FileFacts } from '../tree.ts';

const writeLater = promisify(write);
const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
/** As much is handed to the page cache at once; a longer file lets others run while the disk takes it. */
const AT_ONCE_BYTES = 256 * 1024;

/** Who is to own what is written; absent for this process. */
export interface Ownership {
  uid: number;
  gid: number;
}

/** Writes a new file, whole and with all that is to be known of it. */
export async function writeFile(
  path: string,
  content: AsyncIterable<Uint8Array>,
  { executable, modifiedAt }: FileFacts,
  owner: Ownership | undefined,
): Promise<void> {
  const fd = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    let written = 0;
    for await (const chunk of content) {
      if (written + chunk.length <= AT_ONCE_BYTES) writeAll(fd, chunk);
      else await writeAllLater(fd, chunk);
      written += chunk.length;
    }
    if (owner) fchownSync(fd, owner.uid, owner.gid);
    fchmodSync(fd, executable ? 0o755 : 0o644);
    futimesSync(fd, modifiedAt, modifiedAt);
  } finally {
    closeSync(fd);
  }
}

function writeAll(fd: number, chunk: Uint8Array): void {
  for (let at = 0; at < chunk.length; ) at += writeSync(fd, chunk, at);
}

async function writeAllLater(fd: number, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await writeLater(fd, chunk, at)).bytesWritten;
}
