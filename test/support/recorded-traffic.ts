import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy that keeps every byte that passes, in both directions. */
export interface RecordedTraffic extends AsyncDisposable {
  port: number;
  bytes(): Buffer;
}

export async function recordTraffic(serverPort: number): Promise<RecordedTraffic> {
  const recorded = new Map<Socket, Buffer[]>();
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: serverPort, host: '127.0.0.1', noDelay: true });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      const chunks: Buffer[] = [];
      recorded.set(from, chunks);
      from.on('error', () => {});
      from.on('data', (chunk: Buffer) => chunks.push(chunk));
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    // The bytes of a connection stay together, so that a text in two chunks is found.
    bytes: () => Buffer.concat([...recorded.values()].flat()),
    async [Symbol.asyncDispose]() {
      for (const socket of recorded.keys()) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The calls of services between processes: `callThrough` is an option of `startFleet`. */
export interface RecordedCalls extends AsyncDisposable {
  callThrough(service: string, port: number): Promise<number>;
  /** The bytes of the calls of each service. */
  bytes(): Map<string, Buffer>;
}

export function recordCalls(): RecordedCalls {
  const traffic = new Map<string, RecordedTraffic>();
  return {
    async callThrough(service, port) {
      const recorded = await recordTraffic(port);
      traffic.set(service, recorded);
      return recorded.port;
    },
    bytes: () => new Map(Array.from(traffic, ([service, recorded]) => [service, recorded.bytes()])),
    async [Symbol.asyncDispose]() {
      for (const recorded of traffic.values()) await recorded[Symbol.asyncDispose]();
    },
  };
}
