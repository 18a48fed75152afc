import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, Server } from 'node:net';
import { join } from 'node:path';

/** What this machine is told when it begins. */
export interface MachineOrders {
  /** The address of each name, as this machine resolves them. */
  names: Record<string, string>;
  /** The machine's own address, on the way to all others. */
  address: string;
  hostsFile: string;
  /** The program and its arguments. */
  command: string[];
  env: Record<string, string>;
  /** Where it will listen, on loopback. */
  port: number;
}

/**
 * A machine of its own, as far as names and networks go: it is started in a network namespace and a mount namespace that are
 * new. It runs the program, lies on one wire with the servers of the internet, and hands on to the program what
 * comes in at the door that it is given, which stands in the network outside.
 */
const orders = JSON.parse(process.argv[2] ?? '') as MachineOrders;
const elsewhere = (address: string) => !address.startsWith('127.') && address !== orders.address;
const addresses = new Set(Object.values(orders.names).filter(elsewhere));

/** Ends with this process, however that ends. */
function start([program = '', ...args]: string[], options: { env?: Record<string, string>; ipc?: true }) {
  return spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], {
    env: options.env ?? process.env,
    stdio: ['ignore', 'inherit', 'inherit', ...(options.ipc ? (['ipc'] as const) : [])],
  });
}

const far = start(['unshare', '--net', process.execPath, join(import.meta.dirname, 'far.ts')], { ipc: true });
await once(far, 'message');
far.on('message', (told) => process.send?.(told));

const ip = (...args: string[]) => execFileSync('ip', args);
const ipThere = (...args: string[]) =>
  execFileSync('nsenter', [`--net=/proc/${far.pid}/ns/net`, 'ip', ...args]);
ip('link', 'set', 'lo', 'up');
ip('link', 'add', 'out', 'type', 'veth', 'peer', 'name', 'in', 'netns', String(far.pid));
ip('address', 'add', `${orders.address}/32`, 'dev', 'out');
ip('link', 'set', 'out', 'up');
ip('route', 'add', 'default', 'dev', 'out');
for (const address of addresses) ipThere('address', 'add', `${address}/32`, 'dev', 'in');
ipThere('link', 'set', 'in', 'up');
ipThere('route', 'add', orders.address, 'dev', 'in');

const lines = Object.entries({ localhost: '127.0.0.1', ...orders.names }).map(
  ([name, address]) => `${address} ${name}\n`,
);
writeFileSync(orders.hostsFile, lines.join(''));
execFileSync('mount', ['--bind', orders.hostsFile, '/etc/hosts']);

const program: ChildProcess = start(orders.command, { env: orders.env });
program.once('exit', (code) => process.exit(code ?? 1));
process.once('SIGTERM', () => program.kill('SIGTERM'));
process.once('disconnect', () => program.kill('SIGKILL'));
process.on('message', (_, door) => {
  if (!(door instanceof Server)) return;
  door.on('connection', (client) => {
    const inner = connect(orders.port, '127.0.0.1');
    client.on('error', () => inner.destroy()).pipe(inner);
    inner.on('error', () => client.destroy()).pipe(client);
  });
});
process.send?.({ ready: true });
