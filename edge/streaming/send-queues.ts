import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { readAddress } from '../../lib/addresses.ts';

/**
 * Returns how many bytes the operating system holds for a connection because its client has not acknowledged them.
 * Undefined when that is unknown.
 */
export type SendQueues = (socket: Socket) => number | undefined;

/** Both protocols: connections of IPv4 clients to an IPv6 listener are in the second file. */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
/** Columns of a line: number, local address, remote address, state, send queue and receive queue, … */
const LINE = /^ *\d+: (\w+:\w+) (\w+:\w+) \w+ (\w+):/gm;
const NONE = '00000000';
const UNKNOWN: SendQueues = () => undefined;

/**
 * Reads the send queues of all connections of this machine (https://docs.kernel.org/networking/proc_net_tcp.html). Node
 * does not report when a client acknowledges data: it learns that the operating system accepts more data only when a third
 * of the send buffer is free, which is up to a megabyte. Systems other than Linux have no such table.
 */
export async function readSendQueues(): Promise<SendQueues> {
  const tables = await Promise.all(TABLES.map((path) => readFile(path, 'latin1').catch(() => undefined)));
  if (tables[0] === undefined) return UNKNOWN;
  const queues = new Map<string, number>();
  for (const table of tables) {
    for (const [, local = '', remote = '', queue = NONE] of table?.matchAll(LINE) ?? []) {
      if (queue !== NONE) queues.set(keyOf(local, remote), Number.parseInt(queue, 16));
    }
  }
  return (socket) => {
    const local = hexOf(socket.localAddress, socket.localPort);
    const remote = hexOf(socket.remoteAddress, socket.remotePort);
    return local && remote ? (queues.get(keyOf(local, remote)) ?? 0) : undefined;
  };
}

/** The last 4 bytes of an IPv6 address and of the IPv4 address that it maps are equal, and so are the keys. */
const keyOf = (local: string, remote: string) => `${unmapped(local)} ${unmapped(remote)}`;
const unmapped = (address: string) => address.replace(MAPPED, '');
const MAPPED = /^0{16}FFFF0000/;

/** Returns an address in the notation of the tables: each group of four bytes as a number of a little-endian machine. */
export function hexOf(address: string | undefined, port: number | undefined): string | undefined {
  const bytes = readAddress(address ?? '')?.toByteArray();
  if (!bytes || port === undefined) return undefined;
  const words: string[] = [];
  for (let at = 0; at < bytes.length; at += 4) words.push(hex(bytes.slice(at, at + 4).reverse()));
  return `${words.join('')}:${hex([port >> 8, port & 255])}`;
}

const hex = (bytes: number[]) => Buffer.from(bytes).toString('hex').toUpperCase();
