import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDirectory } from '../../../lib/blobs/directory.ts';
import { bytesOf, conforms } from '../../support/blobs.ts';

const made: string[] = [];

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ahs-test-blobs-'));
  made.push(directory);
  return directory;
}

async function clear(): Promise<void> {
  await Promise.all(made.splice(0).map((directory) => rm(directory, { recursive: true, force: true })));
}

conforms('objects in a directory', async () => openDirectory(join(await makeDirectory(), 'blobs')));

describe('objects in a directory', () => {
  let directory = '';
  beforeEach(async () => {
    directory = await makeDirectory();
  });
  afterEach(clear);

  it('are there again after a restart, without what was not finished', async () => {
    const first = await openDirectory(directory);
    const { key } = await first.write([Buffer.from('hello')]);
    await first.close();
    await writeFile(join(directory, 'drafts', 'f'.repeat(40)), 'half a file');
    const second = await openDirectory(directory);
    expect(String(await bytesOf(second, key))).toBe('hello');
    expect(await readdir(join(directory, 'drafts'))).toEqual([]);
  });

  it('belong to this user alone', async () => {
    const blobs = await openDirectory(directory);
    const { key } = await blobs.write([Buffer.from('hello')]);
    const { mode } = await stat(join(directory, 'objects', key.slice(0, 2), key));
    expect(mode & 0o777).toBe(0o600);
    expect((await stat(join(directory, 'objects'))).mode & 0o777).toBe(0o700);
  });

  it('are not tidied away while they are written, whatever the clock says', async () => {
    const blobs = await openDirectory(directory);
    const later = new Date(Date.now() + 3_600_000);
    await writeFile(join(directory, 'drafts', 'f'.repeat(40)), 'half a file');
    const source = async function* () {
      yield Buffer.from('hel');
      expect(await blobs.tidy(later)).toBe(1);
      yield Buffer.from('lo');
    };
    const { key } = await blobs.write(source());
    expect(String(await bytesOf(blobs, key))).toBe('hello');
  });

  it('cannot be used while the directory is away, and can when it is back', async () => {
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
