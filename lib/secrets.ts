import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, lstat, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DirectoryProblem } from './directory.ts';

/**
 * Reads the secret `secrets/<name>` under a directory, or creates it from `bytes` random bytes on first use. Returns it
 * as base64url text. The file has mode 0600 and is created atomically; processes that create it at the same time all get
 * the same secret. Throws DirectoryProblem when other users can read the file or its content is not such a secret.
 */
export async function readOrCreateSecret(directory: string, name: string, bytes = 32): Promise<string> {
  if (!/^[a-z][a-z0-9-]*$/.test(name)) throw new TypeError(`${name} is not a valid secret name`);
  const folder = join(directory, 'secrets');
  const file = join(folder, name);
  return (await readSecret(file, bytes)) ?? (await createSecret(folder, file, bytes));
}

/** Reads the secret `secrets/<name>` under a directory; undefined when there is none. Throws DirectoryProblem. */
export function readExistingSecret(directory: string, name: string, bytes = 32): Promise<string | undefined> {
  return readSecret(join(directory, 'secrets', name), bytes);
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
    throw problem(file, 'does not contain the secret that was written', 'put the file back from a backup');
  return text;
}

async function createSecret(folder: string, file: string, bytes: number): Promise<string> {
  const secret = randomBytes(bytes).toString('base64url');
  const draft = `${file}.${randomBytes(6).toString('hex')}.draft`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeDurably(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, (handle) =>
      handle.writeFile(secret),
    );
    // Unlike a rename, a link never replaces a secret that another process created in the meantime.
    await link(draft, file);
    await writeDurably(folder, constants.O_RDONLY);
    return secret;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const existing = code === 'EEXIST' ? await readSecret(file, bytes) : undefined;
    if (existing !== undefined) return existing;
    throw problem(file, `cannot be written (${code})`, `let this user write in ${folder}`);
  } finally {
    await rm(draft, { force: true });
  }
}

async function writeDurably(
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
