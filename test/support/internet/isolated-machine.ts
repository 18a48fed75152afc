import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer, type NetConnectOpts, Server, type Socket } from 'node:net';
import { join } from 'node:path';

/** The configuration of the machine, passed as JSON in the first argument. */
interface MachineProgram {
  /** The program and its arguments. */
  command: string[];
  env: Record<string, string>;
}

export interface MachineConfig {
  /** The address that each name resolves to. */
  names: Record<string, string>;
  /** The machine's own address. */
  address: string;
  hostsFile: string;
  programs: MachineProgram[];
  /** Ports on loopback that lead to Unix sockets, which all machines share. */
  sockets: { port: number; path: string }[];
  /** The file with the TLS servers of the simulated internet. */
  tlsFile?: string | undefined;
  /** The port on loopback of the program that answers clients. */
  port: number;
}

/**
 * A machine with names and a network of its own: this program is started in new network and mount namespaces. It runs the
 * programs of the service, is connected to the remote servers by one link, and forwards the connections of a listener that it receives from
 * outside its network to the service.
 */
const config = JSON.parse(process.argv[2] ?? '') as MachineConfig;
const isRemote = (address: string) => !address.startsWith('127.') && address !== config.address;
const addresses = new Set(Object.values(config.names).filter(isRemote));

/** Passes the bytes of a client on. */
function relay(client: Socket, target: NetConnectOpts): void {
  const inner = connect(target);
  client.on('error', () => inner.destroy()).pipe(inner);
  inner.on('error', () => client.destroy()).pipe(client);
}

/** Starts a program that is killed when this process ends for any reason. */
function start(
  [program = '', ...args]: string[],
  options: { env?: Record<string, string>; ipc?: true },
): ChildProcess {
  return spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], {
    env: options.env ?? process.env,
    stdio: ['ignore', 'inherit', 'inherit', ...(options.ipc ? (['ipc'] as const) : [])],
  });
}

const servers = [join(import.meta.dirname, 'remote-servers.ts'), ...(config.tlsFile ? [config.tlsFile] : [])];
const remote = start(['unshare', '--net', process.execPath, ...servers], { ipc: true });
await once(remote, 'message');
remote.on('message', (message) => process.send?.(message));

const ip = (...args: string[]) => execFileSync('ip', args);
const ipRemote = (...args: string[]) =>
  execFileSync('nsenter', [`--net=/proc/${remote.pid}/ns/net`, 'ip', ...args]);
ip('link', 'set', 'lo', 'up');
ip('link', 'add', 'out', 'type', 'veth', 'peer', 'name', 'in', 'netns', String(remote.pid));
ip('address', 'add', `${config.address}/32`, 'dev', 'out');
ip('link', 'set', 'out', 'up');
ip('route', 'add', 'default', 'dev', 'out');
for (const address of addresses) ipRemote('address', 'add', `${address}/32`, 'dev', 'in');
ipRemote('link', 'set', 'in', 'up');
ipRemote('route', 'add', config.address, 'dev', 'in');

const lines = Object.entries({ localhost: '127.0.0.1', ...config.names }).map(
  ([name, address]) => `${address} ${name}\n`,
);
writeFileSync(config.hostsFile, lines.join(''));
execFileSync('mount', ['--bind', config.hostsFile, '/etc/hosts']);

for (const { port, path } of config.sockets) {
  const listener = createServer((client) => relay(client, { path })).listen(port, '127.0.0.1');
  await once(listener, 'listening');
}
const programs = config.programs.map(({ command, env }) => start(command, { env }));
let isStopping = false;
const signalAll = (signal: NodeJS.Signals) => {
  isStopping = true;
  for (const program of programs) program.kill(signal);
};
for (const program of programs) {
  program.once('exit', (code) => {
    const isLast = programs.every(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null);
    if (!isStopping || isLast) process.exit(code ?? 1);
  });
}
process.once('SIGTERM', () => signalAll('SIGTERM'));
process.once('disconnect', () => signalAll('SIGKILL'));
process.on('message', (_, listener) => {
  if (!(listener instanceof Server)) return;
  listener.on('connection', (client) => relay(client, { port: config.port, host: '127.0.0.1' }));
});
process.send?.({ ready: true, pids: programs.map(({ pid }) => pid) });
