import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  realpath,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const OUTPUT = { maxBuffer: 64 * 1024 * 1024 };

/** The packages that a small Debian system has, beside the essential ones. */
const SYSTEM_PACKAGES = ['apt', 'debian-archive-keyring', 'ca-certificates', 'mawk'];
/** Generated files that no package contains. Package sources and certificates are those of this machine. */
const GENERATED = ['etc/apt/sources.list', 'etc/apt/sources.list.d', 'etc/ld.so.cache', 'etc/ssl/certs'];
/** Directories that are links to their counterparts in /usr. */
const MERGED = /^(bin|sbin|lib|lib32|lib64|libx32)\//;
const ALTERNATIVES = '/etc/alternatives/';

const USERS = `_apt:x:42:65534::/nonexistent:/usr/sbin/nologin
node:x:1000:1000::/home/node:/bin/bash
`;

/**
 * Writes a tar archive of installed Debian packages and their dependencies: a system from which an image can be made
 * without a registry. `directory` is for further files of the image. In the system, apt can install more packages.
 */
export async function packSystem(archive: string, directory: string): Promise<void> {
  const packages = await withDependencies([...(await essentialPackages()), ...SYSTEM_PACKAGES]);
  await writeUsers(directory);
  await writePackageDatabase(directory, packages);
  await pack(archive, [...(await filesOf(packages)), ...(await present(GENERATED))], directory);
}

/** Writes a tar archive of installed Debian packages and their dependencies. */
export async function packPackages(archive: string, packages: readonly string[]): Promise<void> {
  await pack(archive, await filesOf(await withDependencies(packages)));
}

async function essentialPackages(): Promise<string[]> {
  const lines = await query(fields('Essential', 'Package'));
  return lines.flatMap((line) => (line.startsWith('yes ') ? [line.slice('yes '.length)] : []));
}

async function withDependencies(packages: readonly string[]): Promise<string[]> {
  const ignored = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'];
  const options = ['--recurse', '--installed', ...ignored.map((kind) => `--no-${kind}`)];
  const { stdout } = await run('apt-cache', ['depends', ...options, ...packages], OUTPUT);
  const installed = new Set(await query(fields('Package')));
  const names = stdout.split('\n').filter((line) => /^[a-z0-9]/.test(line));
  return [...new Set(names.map((name) => name.replace(/:.*/, '')))].filter((name) => installed.has(name));
}

/** Returns a format of dpkg-query. */
const fields = (...names: string[]): string => names.map((name) => `\${${name}}`).join(' ');

async function query(format: string): Promise<string[]> {
  const { stdout } = await run('dpkg-query', ['--show', `--showformat=${format}\\n`], OUTPUT);
  return stdout.split('\n');
}

/** Returns the paths of the packages, relative to the root, with the links of /etc/alternatives to them. */
async function filesOf(packages: readonly string[]): Promise<string[]> {
  const { stdout } = await run('dpkg-query', ['--listfiles', ...packages], OUTPUT);
  const listed = stdout.split('\n').flatMap((line) => (line.startsWith('/') ? [line.slice(1)] : []));
  const paths = new Set(listed.filter((path) => path !== '.').map((path) => path.replace(MERGED, 'usr/$1/')));
  for (const path of await alternativesAmong(paths)) paths.add(path);
  return present([...paths]);
}

async function alternativesAmong(paths: ReadonlySet<string>): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir('/usr/bin')) {
    const link = await readlink(join('/usr/bin', name)).catch(() => '');
    if (!link.startsWith(ALTERNATIVES)) continue;
    const target = await realpath(link).catch(() => '');
    if (paths.has(target.slice(1))) found.push(`usr/bin/${name}`, link.slice(1));
  }
  return found;
}

async function present(paths: readonly string[]): Promise<string[]> {
  const checks = paths.map((path) =>
    lstat(join('/', path)).then(
      () => [path],
      () => [],
    ),
  );
  return (await Promise.all(checks)).flat();
}

async function writeUsers(directory: string): Promise<void> {
  await mkdir(join(directory, 'etc'), { recursive: true });
  for (const [name, more] of [
    ['passwd', USERS],
    ['group', 'node:x:1000:\n'],
  ] as const) {
    const master = await readFile(`/usr/share/base-passwd/${name}.master`, 'utf8');
    await writeFile(join(directory, 'etc', name), master + more);
  }
}

/** Writes the part of dpkg's database about the packages, so that apt knows that they are installed. */
async function writePackageDatabase(directory: string, packages: readonly string[]): Promise<void> {
  const names = new Set(packages);
  const database = join(directory, 'var/lib/dpkg');
  await mkdir(join(database, 'info'), { recursive: true });
  const status = await readFile('/var/lib/dpkg/status', 'utf8');
  const entries = status
    .split('\n\n')
    .filter((entry) => names.has(/^Package: (.*)$/m.exec(entry)?.[1] ?? ''));
  await writeFile(join(database, 'status'), `${entries.join('\n\n')}\n`);
  for (const file of await readdir('/var/lib/dpkg/info'))
    if (names.has(file.replace(/(:[^.]*)?\.[^.]*$/, '')))
      await cp(join('/var/lib/dpkg/info', file), join(database, 'info', file));
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) await symlink(`usr/${name}`, join(directory, name));
}

/** The archive must not contain a path twice: files of `directory` replace those of the machine. */
async function pack(archive: string, paths: readonly string[], directory?: string): Promise<void> {
  const own = directory === undefined ? [] : await readdir(directory, { recursive: true });
  const excluded = new Set([...own, 'bin', 'sbin', 'lib', 'lib64']);
  const whole = GENERATED.filter((path) => paths.includes(path));
  const single = paths.filter(
    (path) => !excluded.has(path) && !GENERATED.some((one) => path === one || path.startsWith(`${one}/`)),
  );
  const owner = ['--numeric-owner', '--owner=0', '--group=0'];
  // The links of the merged directories come first, because the paths of other files lead through them.
  const first = directory === undefined ? [] : ['-C', directory, ...(await readdir(directory))];
  const tar = spawn(
    'tar',
    [
      '--create',
      '--file',
      archive,
      ...owner,
      ...first,
      '-C',
      '/',
      ...whole,
      '--no-recursion',
      '--files-from=-',
    ],
    { stdio: ['pipe', 'ignore', 'inherit'] },
  );
  tar.stdin.end(single.join('\n'));
  const [code] = await once(tar, 'exit');
  if (code !== 0) throw new Error(`tar ended with ${code}`);
}
