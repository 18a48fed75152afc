import { existsSync, lstatSync, mkdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The programs of this machine, and what of its settings they need. All else of /etc stays outside. */
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

/** Who is in a sandbox, by the numbers that are seen there. */
export const AGENT = 1000;
const FILES = {
  passwd: `root:x:0:0:root:/root:/usr/sbin/nologin
agent:x:${AGENT}:${AGENT}:agent:/home/agent:/bin/bash
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
`,
  group: `root:x:0:\nagent:x:${AGENT}:\nnogroup:x:65534:\n`,
  hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
};

export interface SystemOptions {
  /** Where the files that every sandbox has of the service's making are kept. */
  directory: string;
  /** Other directories of this machine that commands may read. */
  shown: readonly string[];
  /** What they may not, although it lies in what they may: the service and its data. */
  hidden: readonly string[];
}

/** Arguments of bubblewrap which put the system into a sandbox, where nobody can write it. */
export interface System {
  /** From this machine into the room around the commands of a sandbox. */
  room: string[];
  /** From there to each command. */
  command: string[];
}

export function readSystem({ directory, shown, hidden }: SystemOptions): System {
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const room = ['--ro-bind', '/usr', '/usr'];
  const command = [...room];
  for (const name of PROGRAMS) {
    const part = top(`/${name}`);
    room.push(...part);
    command.push(...part);
  }
  for (const path of shown) {
    const part = [...waysTo(path), '--ro-bind', path, path];
    room.push(...part);
    command.push(...part);
  }
  for (const path of ['/etc', '/etc/pki', '/etc/pki/ca-trust', '/etc/pki/tls', '/etc/ssl'])
    room.push('--perms', '0755', '--dir', path);
  for (const name of SETTINGS) room.push('--ro-bind-try', `/etc/${name}`, `/etc/${name}`);
  for (const [name, text] of Object.entries(FILES)) {
    const path = join(directory, name);
    writeFileSync(path, text, { mode: 0o644 });
    room.push('--ro-bind', path, `/etc/${name}`);
  }
  const open = ['/usr', ...shown, ...PROGRAMS.map((name) => `/${name}`)];
  for (const path of hidden)
    if (existsSync(path) && open.some((one) => isBelow(path, one)))
      room.push('--perms', '0000', '--tmpfs', path);
  command.push('--ro-bind', '/etc', '/etc');
  return { room, command };
}

/** Directories above a path that everybody may go through. */
function waysTo(path: string): string[] {
  const parts = path.split('/').slice(1, -1);
  return parts.flatMap((_, at) => ['--perms', '0755', '--dir', `/${parts.slice(0, at + 1).join('/')}`]);
}

/** Often a link into /usr. */
function top(path: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink()) return ['--symlink', readlinkSync(path), path];
  return stats?.isDirectory() ? ['--ro-bind', path, path] : [];
}

const isBelow = (path: string, above: string): boolean => path === above || path.startsWith(`${above}/`);
