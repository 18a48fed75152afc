import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { childrenOf } from '../../../services/runner/kernel/processes.ts';
import { until } from '../wait.ts';
import { startForwardProxy } from './forward-proxy.ts';

export interface Docker extends AsyncDisposable {
  /** The environment for clients of the daemon. */
  environment: NodeJS.ProcessEnv;
  /** The proxy through which containers reach package registries. */
  proxyUrl: string;
  /** A directory that is deleted at the end. */
  directory: string;
  /** Runs a program on this machine. Returns its output. Rejects with its output when it fails. */
  run(command: readonly string[], options?: RunOptions): Promise<string>;
  /** Runs a program in the network namespace of the daemon, where the published ports are. */
  runInNetwork(command: readonly string[], options?: RunOptions): Promise<string>;
}

export interface RunOptions {
  cwd?: string;
  environment?: NodeJS.ProcessEnv;
  input?: Uint8Array | string;
}

/**
 * Returns the addresses of both ends of the link to the network namespace of the daemon: four addresses per process from
 * 198.18.0.0/15, which is reserved for benchmarks (RFC 2544).
 */
function linkAddresses(pid: number): { outside: string; inside: string } {
  const first = (pid * 4) % 0x2_00_00;
  const address = (host: number) => `198.${18 + (host >> 16)}.${(host >> 8) & 0xff}.${host & 0xff}`;
  return { outside: address(first + 1), inside: address(first + 2) };
}

/**
 * Starts a Docker daemon as root with its own data, in network, mount and process namespaces of its own. With this process,
 * or at the end, all containers end, and nothing is left on the machine.
 */
export async function startDocker(): Promise<Docker> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.adopt(await mkdtemp(join(tmpdir(), 'ahs-test-docker-')), (path) =>
    rm(path, { recursive: true, force: true }),
  );
  const cgroup = `ahs-test-${process.pid}`;
  stack.defer(() => removeControlGroups(cgroup));
  const { outside, inside: insideAddress } = linkAddresses(process.pid);
  const addresses = [outside, insideAddress];
  const namespaces = stack.adopt(spawnNamespaces([directory, cgroup, ...addresses]), endNamespaces);
  let log = '';
  namespaces.stdout?.on('data', (bytes: Buffer) => {
    log = (log + bytes).slice(-20_000);
  });
  const inside = await firstProcess(namespaces);
  const link = `ahs${process.pid}`;
  await run(['ip', 'link', 'add', link, 'type', 'veth', 'peer', 'name', 'outside', 'netns', String(inside)]);
  await run(['ip', 'address', 'add', `${outside}/30`, 'dev', link]);
  await run(['ip', 'link', 'set', link, 'up']);
  const proxy = stack.use(await startForwardProxy(outside));
  namespaces.stdin?.end('\n');
  const socket = join(directory, 'docker.sock');
  const environment = {
    // Debian's client can build with BuildKit, which others need a plugin for.
    PATH: `/usr/bin:/usr/sbin:${process.env.PATH}`,
    HOME: directory,
    DOCKER_HOST: `unix://${socket}`,
    DOCKER_BUILDKIT: '1',
    COMPOSE_DOCKER_CLI_BUILD: '1',
  };
  const runHere = (command: readonly string[], options: RunOptions = {}) =>
    run(command, { ...options, environment: { ...environment, ...options.environment } });
  const isReady = () =>
    runHere(['docker', 'version']).then(
      () => true,
      () => false,
    );
  const hasStarted = async () => {
    if (namespaces.exitCode !== null) throw new Error(`dockerd did not start:\n${log}`);
    return isReady();
  };
  await until('the Docker daemon answers', hasStarted);
  const owned = stack.move();
  return {
    environment,
    proxyUrl: proxy.url,
    directory,
    run: runHere,
    runInNetwork: (command, options) =>
      runHere(['nsenter', '--net', '--target', String(inside), ...command], options),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The arguments are the directory, the name of the control group, and the addresses of both ends of the link. */
function spawnNamespaces(args: readonly string[]): ChildProcess {
  const script = `read -r _
    ip link set lo up && ip address add "$3/30" dev outside && ip link set outside up
    ip route add default via "$2"
    exec dockerd --data-root "$0/data" --exec-root "$0/exec" --pidfile "$0/pid" --host "unix://$0/docker.sock" \\
      --storage-driver overlay2 --cgroup-parent "/$1" --log-level warn`;
  const namespaces = ['--net', '--mount', '--propagation', 'slave', '--pid', '--fork', '--mount-proc'];
  return spawn(
    'setpriv',
    ['--pdeathsig', 'KILL', 'unshare', ...namespaces, '--kill-child=KILL', 'bash', '-c', script, ...args],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
}

/** The end of the first process of the namespaces ends all others. */
async function endNamespaces(namespaces: ChildProcess): Promise<void> {
  if (namespaces.exitCode !== null || namespaces.signalCode !== null) return;
  const ended = once(namespaces, 'close');
  for (const pid of childrenOf(namespaces.pid ?? 0)) process.kill(pid, 'SIGKILL');
  await ended;
}

async function firstProcess({ pid = 0 }: ChildProcess): Promise<number> {
  let found = 0;
  await until('the namespaces of the Docker daemon exist', async () => {
    [found = 0] = childrenOf(pid);
    return found !== 0 && (await readFile(`/proc/${found}/comm`, 'utf8').catch(() => '')) === 'bash\n';
  });
  return found;
}

/** A daemon that was killed leaves its empty control groups. */
async function removeControlGroups(name: string): Promise<void> {
  const groups = globSync(`/sys/fs/cgroup/{,*/}${name}/{**/,}`);
  for (const path of groups.sort((one, other) => other.length - one.length))
    await rmdir(path).catch(() => {});
}

async function run(command: readonly string[], options: RunOptions = {}): Promise<string> {
  const [program = '', ...args] = command;
  const { cwd, environment: env = process.env, input } = options;
  const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [output, errorOutput, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${output}\n${errorOutput}`);
  return output;
}
