import { type FileHandle, mkdir, mkdtemp, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDirectory } from '../../../lib/blobs/directory.ts';
import { describeBlobStore, describeFailingBlobStore, readAll } from '../../support/blob-conformance.ts';

const directories: string[] = [];

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ahs-test-blobs-'));
  directories.push(directory);
  return directory;
}

async function clear(): Promise<void> {
  await Promise.all(
    directories.splice(0).map((directory) => rm(directory, { recursive: true, force: true })),
  );
}

describeBlobStore('openDirectory (conformance)', async () =>
  openDirectory(join(await makeDirectory(), 'blobs')),
);

/** Half of the bytes fit, as on a disk that becomes full. */
function failingHandle(handle: FileHandle, code: string): FileHandle {
  handle.writev = async (chunks) => {
    const bytes = Buffer.concat(
      chunks.map((chunk) => Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)),
    );
    await handle.write(bytes, 0, Math.floor(bytes.length / 2));
    throw Object.assign(new Error('injected'), { code });
  };
  return handle;
}

describeFailingBlobStore('openDirectory on a failing disk (conformance)', async () => {
  let code: string | undefined;
  const blobs = await openDirectory(join(await makeDirectory(), 'blobs'), {
    openFile: async (...given) => {
      const handle = await open(...given);
      return code === undefined ? handle : failingHandle(handle, code);
    },
  });
  return {
    blobs,
    failWrites(reason) {
      code = reason && (reason === 'full' ? 'ENOSPC' : 'EOPNOTSUPP');
    },
  };
});

describe('openDirectory', () => {
  let directory = '';
  beforeEach(async () => {
    directory = await makeDirectory();
  });
  afterEach(clear);

  it('keeps objects and deletes unfinished writes after a restart', async () => {
    const first = await openDirectory(directory);
    const { key } = await first.write([Buffer.from('hello')]);
    await first.close();
    await writeFile(join(directory, 'drafts', 'f'.repeat(40)), 'half a file');
    const second = await openDirectory(directory);
    expect(String(await readAll(second, key))).toBe('hello');
    expect(await readdir(join(directory, 'drafts'))).toEqual([]);
  });

  it('creates objects with mode 600 and directories with mode 700', async () => {
    const blobs = await openDirectory(directory);
    const { key } = await blobs.write([Buffer.from('hello')]);
    const { mode } = await stat(join(directory, 'objects', key.slice(0, 2), key));
    expect(mode & 0o777).toBe(0o600);
    expect((await stat(join(directory, 'objects'))).mode & 0o777).toBe(0o700);
  });

  it('does not delete an open write as incomplete, even when it looks old', async () => {
    const blobs = await openDirectory(directory);
    const later = new Date(Date.now() + 3_600_000);
    await writeFile(join(directory, 'drafts', 'f'.repeat(40)), 'half a file');
    const source = async function* () {
      yield Buffer.from('hel');
      expect(await blobs.deleteIncompleteWrites(later)).toBe(1);
      yield Buffer.from('lo');
    };
    const { key } = await blobs.write(source());
    expect(String(await readAll(blobs, key))).toBe('hello');
  });

  it('fails with DEPENDENCY_UNAVAILABLE while its directory is missing, and works again afterwards', async () => {
    const blobs = await openDirectory(directory);
    await rm(join(directory, 'drafts'), { recursive: true });
    await expect(blobs.write([Buffer.from('hello')])).rejects.toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
    });
    await expect(blobs.check()).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    await mkdir(join(directory, 'drafts'));
    await blobs.write([Buffer.from('hello')]);
    await blobs.check();
  });
});
