import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { S3User } from './ceph.ts';
import { freePort } from './port.ts';
import { until } from './wait.ts';

const run = promisify(execFile);

export interface SwiftServer extends AsyncDisposable {
  /** http://127.0.0.1:… */
  endpoint: string;
  user: S3User;
}

const SERVERS = ['account', 'container', 'object'] as const;

export const SWIFT_USER: S3User = { accessKey: 'test:tester', secretKey: 'testing' };

interface SwiftSettings {
  ports: Record<(typeof SERVERS)[number] | 'proxy', number>;
  /** The address on which the proxy listens. */
  host: string;
  /** The directory of the configuration when the servers start. */
  directory: string;
}

/** Writes the configuration of all servers. Swift keeps its data in the same directory. */
export async function writeSwiftConfiguration(path: string, settings: SwiftSettings): Promise<void> {
  const { ports, host, directory } = settings;
  await writeFile(join(path, 'swift.conf'), '[swift-hash]\nswift_hash_path_suffix = test\n');
  await mkdir(join(path, 'devices', 'disk'), { recursive: true });
  for (const server of SERVERS) {
    const ring = join(path, `${server}.builder`);
    const device = ['--region', '1', '--zone', '1', '--ip', '127.0.0.1', '--port', String(ports[server])];
    await run('swift-ring-builder', [ring, 'create', '4', '1', '1']);
    await run('swift-ring-builder', [ring, 'add', ...device, '--device', 'disk', '--weight', '1']);
    await run('swift-ring-builder', [ring, 'rebalance']);
    await writeFile(join(path, `${server}.conf`), storageConfiguration(directory, server, ports[server]));
  }
  await writeFile(join(path, 'proxy.conf'), proxyConfiguration(directory, host, ports.proxy));
}

/**
 * Starts OpenStack Swift with its `s3api` on free ports: a proxy, and one account, container and object server with
 * one replica. All data is in a temporary directory, which is deleted at the end. The programs end with this process.
 */
export async function startSwift(): Promise<SwiftServer> {
  const directory = await mkdtemp(join(tmpdir(), 'ahs-test-swift-'));
  const programs: ChildProcess[] = [];
  const stop = async () => {
    await Promise.all(programs.map(end));
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const ports = { account: 0, container: 0, object: 0, proxy: 0 };
    for (const server of Object.keys(ports) as (keyof typeof ports)[]) ports[server] = await freePort();
    const { proxy: port } = ports;
    await writeSwiftConfiguration(directory, { ports, host: '127.0.0.1', directory });
    for (const server of Object.keys(ports)) programs.push(startServer(directory, server));
    await Promise.all(Object.values(ports).map((each) => waitForServer(each)));
    const endpoint = `http://127.0.0.1:${port}`;
    return {
      endpoint,
      user: SWIFT_USER,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startServer(directory: string, server: string): ChildProcess {
  // The servers write their log to standard error when there is no syslog.
  const script = 'exec setpriv --pdeathsig KILL "swift-$0-server" "$1/$0.conf" --verbose >"$1/$0.log" 2>&1';
  return spawn('sh', ['-c', script, server, directory], { stdio: 'ignore' });
}

/** Waits until a server answers any request. */
async function waitForServer(port: number): Promise<void> {
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/healthcheck`).then(
      () => true,
      () => false,
    );
  await until(`the Swift server on port ${port} answers`, answers);
}

async function end(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return;
  const ended = once(program, 'exit');
  program.kill('SIGKILL');
  await ended;
}

/** `workers = 0` serves requests in the process that is started, without children. */
function defaults(directory: string, port: number, host = '127.0.0.1'): string {
  return `[DEFAULT]
bind_ip = ${host}
bind_port = ${port}
swift_dir = ${directory}
user = ${process.getuid?.() === 0 ? 'root' : (process.env.USER ?? 'nobody')}
workers = 0
log_name = swift
log_address = ${directory}/no-syslog
`;
}

function storageConfiguration(directory: string, server: (typeof SERVERS)[number], port: number): string {
  return `${defaults(directory, port)}devices = ${directory}/devices
mount_check = false
disable_fallocate = true
fallocate_reserve = 0

[pipeline:main]
pipeline = ${server}-server

[app:${server}-server]
use = egg:swift#${server}
`;
}

const FILTERS = {
  healthcheck: '',
  // Without it, responses to HEAD that report an error have a body.
  catch_errors: '',
  gatekeeper: '',
  'proxy-logging': '',
  // tempauth needs a cache. It takes an unreachable memcached for an empty one, so no memcached is started.
  cache: 'memcache_servers = 127.0.0.1:1\nconnect_timeout = 0.1',
  listing_formats: '',
  s3api: 'location = us-east-1',
  tempauth: 'user_test_tester = testing .admin',
  copy: '',
  bulk: '',
  slo: '',
};
const PACKAGE_NAMES: Partial<Record<string, string>> = {
  'proxy-logging': 'proxy_logging',
  cache: 'memcache',
};

function proxyConfiguration(directory: string, host: string, port: number): string {
  const filters = Object.entries(FILTERS).map(
    ([name, options]) => `[filter:${name}]\nuse = egg:swift#${PACKAGE_NAMES[name] ?? name}\n${options}\n`,
  );
  return `${defaults(directory, port, host)}
[pipeline:main]
pipeline = ${Object.keys(FILTERS).join(' ')} proxy-server

[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true

${filters.join('\n')}`;
}
