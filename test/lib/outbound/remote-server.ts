import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Dialer } from '../../../lib/outbound/dialer.ts';
import { OutboundClient } from '../../../lib/outbound/outbound-client.ts';
import { type PrivateHost, parsePrivateHosts } from '../../../lib/outbound/private-hosts.ts';
import { createAuthority } from '../../support/certificates.ts';
import { createFakeClock } from '../../support/clock.ts';

export const PUBLIC = '93.184.216.34';

const authority = createAuthority('remote servers');
const certificate = authority.issue({ names: ['remote.test', 'xn--bcher-kva.test', '127.0.0.1'] });

interface RemoteOptions {
  /** Answers of name resolution, in order; the last one is repeated. Default: one public address. */
  addresses?: string[][];
  privateHosts?: string;
  /** Serves requests, or receives connections after the TLS handshake. Default: 200 with the body `ok`. */
  serve?: RequestListener;
  accept?: (socket: Socket) => void;
  isEncrypted?: boolean;
  certificate?: { cert: string; key: string };
}

/** Starts a server that has all addresses, and a client that connects to it over a manual clock. */
export async function startRemote(options: RemoteOptions = {}) {
  const { addresses = [[PUBLIC]], accept, isEncrypted = true } = options;
  const serve: RequestListener = options.serve ?? ((_, response) => void response.end('ok'));
  const tls = options.certificate ?? certificate;
  const server: Server = accept
    ? createTlsServer(tls, accept)
    : isEncrypted
      ? createHttpsServer(tls, serve)
      : createHttpServer(serve);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const resolved: string[] = [];
  const dialled: string[] = [];
  const clock = createFakeClock();
  const privateHosts: PrivateHost[] = parsePrivateHosts(options.privateHosts ?? '');
  const dialer: Dialer = {
    async resolve(host) {
      resolved.push(host);
      return addresses[Math.min(resolved.length, addresses.length) - 1] ?? [];
    },
    dial(address, dialledPort) {
      dialled.push(`${address} ${dialledPort}`);
      return connect(port, '127.0.0.1');
    },
  };
  const client = new OutboundClient({ clock, privateHosts, ca: authority.cert, dialer });
  return {
    client,
    dialer,
    clock,
    port,
    resolved,
    dialled,
    /** Open connections of the server. */
    sockets,
    async [Symbol.asyncDispose]() {
      await client.close();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns the problem with which a promise rejects, or the value with which it resolves. */
export async function problemOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    (value) => value,
    (error) => error?.problem ?? error,
  );
}
