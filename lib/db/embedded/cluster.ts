import { randomBytes } from 'node:crypto';
import {
  chmod,
  lchown,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import type { Launcher, Owner } from './launcher.ts';
import { PostgresProblem } from './problem.ts';

/** A database cluster on disk, with what is needed to log in to it. */
export interface Cluster {
  /** PGDATA. */
  data: string;
  user: string;
  password: string;
  database: string;
}

const USER = 'service';
const DATABASE = 'postgres';
const WHOLE = 'cluster';
const DRAFT = 'cluster.draft-';

/** The owner of the cluster's files; undefined when there is no cluster yet. */
export async function clusterOwner(directory: string): Promise<Owner | undefined> {
  try {
    const { uid, gid } = await stat(join(directory, WHOLE, 'data'));
    return { uid, gid };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw foreign(directory, error);
  }
}

/** Opens the cluster of a directory; makes it when there is none. Half-made ones of killed processes go away. */
export async function openCluster(options: {
  directory: string;
  binaries: Binaries;
  launcher: Launcher;
  present: Owner | undefined;
  /** Whether a new cluster must survive a power cut from the start. */
  durable: boolean;
  log: (line: string) => void;
  signal: AbortSignal | undefined;
}): Promise<Cluster> {
  const { directory, launcher, present } = options;
  for (const name of await readdir(directory))
    if (name.startsWith(DRAFT)) await discard(join(directory, name));
  const path = join(directory, WHOLE);
  if (!present) await make(options, path);
  else if (launcher.owner && launcher.owner.uid !== present.uid) await give(path, launcher.owner);
  await close(path);
  return read(directory, path, launcher.version);
}

/** The password lies beside the data and comes into being by the same rename: one never exists without the other. */
async function make(
  { directory, binaries, launcher, durable, log, signal }: Parameters<typeof openCluster>[0],
  path: string,
): Promise<void> {
  log(`making a PostgreSQL ${launcher.version} cluster in ${directory}`);
  const draft = await mkdtemp(join(directory, DRAFT));
  try {
    const password = join(draft, 'password');
    await writeFile(password, randomBytes(32).toString('base64url'), { mode: 0o600, flush: true });
    if (launcher.owner) await give(draft, launcher.owner);
    const data = join(draft, 'data');
    // The built-in locale sorts and compares alike on every machine and still knows the case of all letters.
    const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const login = [`--username=${USER}`, `--pwfile=${password}`, '--auth=scram-sha-256'];
    const args = [`--pgdata=${data}`, '--encoding=UTF8', ...locale, ...login, '--no-instructions'];
    if (!durable) args.push('--no-sync');
    await launcher.run(binaries.initdb, args, signal);
    await sync(draft);
    await rename(draft, path);
    await sync(directory);
  } catch (error) {
    await discard(draft);
    if (signal?.aborted) throw error;
    throw unmade(directory, error);
  }
}

async function read(directory: string, path: string, version: string): Promise<Cluster> {
  const data = join(path, 'data');
  let made: string;
  let password: string;
  try {
    made = (await readFile(join(data, 'PG_VERSION'), 'utf8')).trim();
    password = (await readFile(join(path, 'password'), 'utf8')).trim();
  } catch (error) {
    throw foreign(directory, error);
  }
  const [release] = version.split('.');
  if (made !== release)
    throw new PostgresProblem(
      `the data in ${data} is of PostgreSQL ${made}, and this release brings PostgreSQL ${version}`,
      `data of PostgreSQL ${release}`,
      `dump it with PostgreSQL ${made} and load it into a new SERVICE_DATA_DIR, or start the release that made it`,
    );
  return { data, user: USER, password, database: DATABASE };
}

/** Its maker may still be dying and write a last file; what then stays, the next start removes. */
async function discard(draft: string): Promise<void> {
  await rm(draft, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 }).catch(() => {});
}

/** PostgreSQL refuses data that a restored backup or a mounted volume has opened to others. */
async function close(path: string): Promise<void> {
  const modes = [
    [path, 0o700],
    [join(path, 'data'), 0o700],
    [join(path, 'password'), 0o600],
  ] as const;
  // When this user may not change them, PostgreSQL or the reading of the password says what is wrong.
  for (const [file, mode] of modes) await chmod(file, mode).catch(() => {});
}

function unmade(directory: string, cause: unknown): PostgresProblem {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const problem = `a PostgreSQL cluster cannot be made in ${directory}: ${reason}`;
  if (reason.includes('could not look up effective user'))
    return new PostgresProblem(
      problem,
      'a user who has a name',
      'add this user to /etc/passwd, or start the service as another user',
      cause,
    );
  return new PostgresProblem(
    problem,
    'a directory on a local disk with 100 MB of free space',
    'free some space, or name another SERVICE_DATA_DIR',
    cause,
  );
}

function foreign(directory: string, cause: unknown): PostgresProblem {
  const reason = cause instanceof Error ? cause.message : cause;
  return new PostgresProblem(
    `the PostgreSQL cluster in ${directory} cannot be read: ${reason}`,
    'a whole cluster that belongs to the user who starts the service',
    'start the service as the user who made it, give the directory to this user (chown -R), or put back a backup',
    cause,
  );
}

async function give(path: string, { uid, gid }: Owner): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true, recursive: true }))
    await lchown(join(entry.parentPath, entry.name), uid, gid);
  await lchown(path, uid, gid);
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
