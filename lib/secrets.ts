import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, lstat, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DirectoryProblem } from './directory.ts';

/**
 * Reads the secret `secrets/<name>` under a directory; on first use makes it from `bytes` random bytes.
 * Returns it as base64url text. The file is 0600 and appears whole or not at all; of several processes that
 * make it at the same time, all get the same one.
 * Throws DirectoryProblem when others can read the file, or when it does not hold such a secret.
 */
export async function keptSecret(directory: string, name: string, bytes = 32): Promise<string> {
  if (!/^[a-z][a-z0-9-]*$/.test(name)) throw new TypeError(`a secret cannot be named ${name}`);
  const folder = join(directory, 'secrets');
  const file = join(folder, name);
  return (await readSecret(file, bytes)) ?? (await makeSecret(folder, file, bytes));
}

async function readSecret(file: string, bytes: number): Promise<string | undefined> {
  const found = await lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw problem(file, `cannot be read (${error.code})`, 'give it to this user (chown)');
  });
  if (!found) return undefined;
  if (!found.isFile()) throw problem(file, 'is not a file', 'put the file back from a backup');
  if ((found.mode & 0o077) !== 0)
    throw problem(
      file,
      `can be read by others (mode ${(found.mode & 0o777).toString(8)})`,
      `chmod 600 ${file}`,
    );
  const text = (
    await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw problem(file, `cannot be read (${error.code})`, 'give it to this user (chown)');
    })
  ).trim();
  if (!/^[A-Za-z0-9_-]+$/.test(text) || Buffer.from(text, 'base64url').length < bytes)
    throw problem(file, 'does not hold the secret that was written', 'put the file back from a backup');
  return text;
}

async function makeSecret(folder: string, file: string, bytes: number): Promise<string> {
  const secret = randomBytes(bytes).toString('base64url');
  const draft = `${file}.${randomBytes(6).toString('hex')}.draft`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await durably(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, (handle) =>
      handle.writeFile(secret),
    );
    // Unlike a rename, a link never replaces the secret that another process has made meanwhile.
    await link(draft, file);
    await durably(folder, constants.O_RDONLY);
    return secret;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const theirs = code === 'EEXIST' ? await readSecret(file, bytes) : undefined;
    if (theirs !== undefined) return theirs;
    throw problem(file, `cannot be written (${code})`, `let this user write in ${folder}`);
  } finally {
    await rm(draft, { force: true });
  }
}

async function durably(
  path: string,
  flags: number,
  work?: (handle: Awaited<ReturnType<typeof open>>) => Promise<void>,
): Promise<void> {
  const handle = await open(path, flags, 0o600);
  try {
    await work?.(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function problem(path: string, what: string, fix: string): DirectoryProblem {
  return new DirectoryProblem(path, what, 'a file that only this user can read (mode 0600)', fix);
}
