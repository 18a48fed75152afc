import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, Server } from 'node:net';
import { join } from 'node:path';

/** The configuration of the machine, passed as JSON in the first argument. */
export interface MachineConfig {
  /** The address that each name resolves to. */
  names: Record<string, string>;
  /** The machine's own address. */
  address: string;
  hostsFile: string;
  /** The program and its arguments. */
  command: string[];
  env: Record<string, string>;
  /** The file with the TLS servers of the simulated internet. */
  tlsFile?: string | undefined;
  /** The port of the program on loopback. */
  port: number;
}

/**
 * A machine with names and a network of its own: this program is started in new network and mount namespaces. It runs the
 * service, is connected to the remote servers by one link, and forwards the connections of a listener that it receives from
 * outside its network to the service.
 */
const config = JSON.parse(process.argv[2] ?? '') as MachineConfig;
const isRemote = (address: string) => !address.startsWith('127.') && address !== config.address;
const addresses = new Set(Object.values(config.names).filter(isRemote));

/** Starts a program that is killed when this process ends for any reason. */
function start([program = '', ...args]: string[], options: { env?: Record<string, string>; ipc?: true }) {
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

const program: ChildProcess = start(config.command, { env: config.env });
program.once('exit', (code) => process.exit(code ?? 1));
process.once('SIGTERM', () => program.kill('SIGTERM'));
process.once('disconnect', () => program.kill('SIGKILL'));
process.on('message', (_, listener) => {
  if (!(listener instanceof Server)) return;
  listener.on('connection', (client) => {
    const inner = connect(config.port, '127.0.0.1');
    client.on('error', () => inner.destroy()).pipe(inner);
    inner.on('error', () => client.destroy()).pipe(client);
  });
});
process.send?.({ ready: true });
