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
import type { FileOwner, Launcher } from './launcher.ts';
import { PostgresProblem } from './problem.ts';

/** A database cluster on disk with its login. */
interface Cluster {
  /** PGDATA. */
  data: string;
  user: string;
  password: string;
  database: string;
}

const USER = 'service';
const DATABASE = 'postgres';
const CLUSTER = 'cluster';
const DRAFT = 'cluster.draft-';

/** Returns the owner of the cluster's files, or undefined when there is no cluster yet. */
export async function clusterOwner(directory: string): Promise<FileOwner | undefined> {
  try {
    const { uid, gid } = await stat(join(directory, CLUSTER, 'data'));
    return { uid, gid };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unreadable(directory, error);
  }
}

/** Opens the cluster of a directory, or creates it. Removes incomplete clusters of killed processes. */
export async function openCluster(options: {
  directory: string;
  binaries: Binaries;
  launcher: Launcher;
  present: FileOwner | undefined;
  /** Whether a new cluster must survive a power failure immediately after its creation. */
  durable: boolean;
  log: (line: string) => void;
  signal: AbortSignal | undefined;
}): Promise<Cluster> {
  const { directory, launcher, present } = options;
  for (const name of await readdir(directory))
    if (name.startsWith(DRAFT)) await discard(join(directory, name));
  const path = join(directory, CLUSTER);
  if (!present) await createCluster(options, path);
  else if (launcher.owner && launcher.owner.uid !== present.uid) await changeOwner(path, launcher.owner);
  await restrictModes(path);
  return read(directory, path, launcher.version);
}

/** The password file is next to the data and is renamed together with it, so that neither exists without the other. */
async function createCluster(
  { directory, binaries, launcher, durable, log, signal }: Parameters<typeof openCluster>[0],
  path: string,
): Promise<void> {
  log(`creating a PostgreSQL ${launcher.version} cluster in ${directory}`);
  const draft = await mkdtemp(join(directory, DRAFT));
  try {
    const password = join(draft, 'password');
    await writeFile(password, randomBytes(32).toString('base64url'), { mode: 0o600, flush: true });
    if (launcher.owner) await changeOwner(draft, launcher.owner);
    const data = join(draft, 'data');
    // The built-in locale sorts identically on every machine and supports the case mapping of all letters.
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
    throw creationFailed(directory, error);
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
    throw unreadable(directory, error);
  }
  const [release] = version.split('.');
  if (made !== release)
    throw new PostgresProblem(
      `the data in ${data} was created by PostgreSQL ${made}, and this release contains PostgreSQL ${version}`,
      `data of PostgreSQL ${release}`,
      `dump it with PostgreSQL ${made} and load it into a new SERVICE_DATA_DIR, or start the release that created it`,
    );
  return { data, user: USER, password, database: DATABASE };
}

/** A dying process can still write into the draft. The next start removes the remaining files. */
async function discard(draft: string): Promise<void> {
  await rm(draft, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 }).catch(() => {});
}

/** PostgreSQL refuses data that other users can access, for example after restoring a backup or mounting a volume. */
async function restrictModes(path: string): Promise<void> {
  const modes = [
    [path, 0o700],
    [join(path, 'data'), 0o700],
    [join(path, 'password'), 0o600],
  ] as const;
  // If this user may not change the modes, PostgreSQL or reading the password reports the problem.
  for (const [file, mode] of modes) await chmod(file, mode).catch(() => {});
}

function creationFailed(directory: string, cause: unknown): PostgresProblem {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const problem = `a PostgreSQL cluster cannot be created in ${directory}: ${reason}`;
  if (reason.includes('could not look up effective user'))
    return new PostgresProblem(
      problem,
      'a user with a name in /etc/passwd',
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

function unreadable(directory: string, cause: unknown): PostgresProblem {
  const reason = cause instanceof Error ? cause.message : cause;
  return new PostgresProblem(
    `the PostgreSQL cluster in ${directory} cannot be read: ${reason}`,
    'a complete cluster that belongs to the user who starts the service',
    'start the service as the user who created it, give the directory to this user (chown -R), or restore a backup',
    cause,
  );
}

async function changeOwner(path: string, { uid, gid }: FileOwner): Promise<void> {
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
