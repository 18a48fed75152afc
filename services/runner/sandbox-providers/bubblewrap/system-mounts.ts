import { existsSync, lstatSync, mkdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Directories with the programs of this machine, and the entries of /etc that they need. Sandboxes see no others. */
const PROGRAMS = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];
const SETTINGS = [
  'alternatives',
  'ca-certificates',
  'ca-certificates.conf',
  'fonts',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'magic',
  'mime.types',
  'os-release',
  'perl',
  'pki/ca-trust/extracted',
  'pki/tls/certs',
  'protocols',
  'python3',
  'services',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'timezone',
];

/** The user id of commands, as seen in a sandbox. */
export const AGENT_UID = 1000;
const FILES = {
  passwd: `root:x:0:0:root:/root:/usr/sbin/nologin
agent:x:${AGENT_UID}:${AGENT_UID}:agent:/home/agent:/bin/bash
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
`,
  group: `root:x:0:\nagent:x:${AGENT_UID}:\nnogroup:x:65534:\n`,
  hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
};

interface SystemMountsOptions {
  /** Holds the files that the service generates for all sandboxes. */
  directory: string;
  /** Further directories of this machine that commands may read. */
  readableDirectories: readonly string[];
  /** Paths below readable directories that commands must not see: the service and its data. */
  hiddenPaths: readonly string[];
}

/** Arguments of bubblewrap that mount the system read-only. */
export interface SystemMounts {
  /** Mounts from this machine into the namespaces of a sandbox. */
  forNamespaceSet: string[];
  /** Mounts from there into the namespaces of each command. */
  forCommand: string[];
}

export function createSystemMounts({
  directory,
  readableDirectories,
  hiddenPaths,
}: SystemMountsOptions): SystemMounts {
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const forNamespaceSet = ['--ro-bind', '/usr', '/usr'];
  const forCommand = [...forNamespaceSet];
  for (const name of PROGRAMS) {
    const mount = linkOrMount(`/${name}`);
    forNamespaceSet.push(...mount);
    forCommand.push(...mount);
  }
  for (const path of readableDirectories) {
    const mount = [...parentDirectories(path), '--ro-bind', path, path];
    forNamespaceSet.push(...mount);
    forCommand.push(...mount);
  }
  for (const path of ['/etc', '/etc/pki', '/etc/pki/ca-trust', '/etc/pki/tls', '/etc/ssl'])
    forNamespaceSet.push('--perms', '0755', '--dir', path);
  for (const name of SETTINGS) forNamespaceSet.push('--ro-bind-try', `/etc/${name}`, `/etc/${name}`);
  for (const [name, text] of Object.entries(FILES)) {
    const path = join(directory, name);
    writeFileSync(path, text, { mode: 0o644 });
    forNamespaceSet.push('--ro-bind', path, `/etc/${name}`);
  }
  const mounted = ['/usr', ...readableDirectories, ...PROGRAMS.map((name) => `/${name}`)];
  for (const path of hiddenPaths)
    if (existsSync(path) && mounted.some((one) => isBelow(path, one)))
      forNamespaceSet.push('--perms', '0000', '--tmpfs', path);
  forCommand.push('--ro-bind', '/etc', '/etc');
  return { forNamespaceSet, forCommand };
}

/** Returns arguments that create the parent directories of a path with mode 0755. */
function parentDirectories(path: string): string[] {
  const parts = path.split('/').slice(1, -1);
  return parts.flatMap((_, at) => ['--perms', '0755', '--dir', `/${parts.slice(0, at + 1).join('/')}`]);
}

/** Returns arguments that recreate a symbolic link, such as /bin to /usr/bin, or mount a directory. */
function linkOrMount(path: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink()) return ['--symlink', readlinkSync(path), path];
  return stats?.isDirectory() ? ['--ro-bind', path, path] : [];
}

const isBelow = (path: string, above: string): boolean => path === above || path.startsWith(`${above}/`);
