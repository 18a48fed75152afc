import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy to a server on this host that can stall, cut or isolate its connections. */
export interface TcpProxy extends AsyncDisposable {
  port: number;
  /** Stops forwarding on all current connections, in both directions. New connections work. */
  stall(): void;
  /** Resets all current connections. New connections work. */
  cut(): void;
  /**
   * Isolates the server from its clients. `silent`: current and new connections stay open, and their bytes are
   * forwarded after `restore`. `reset`: current and new connections are reset.
   */
  isolate(manner: 'silent' | 'reset'): void;
  /** Ends the isolation. */
  restore(): void;
}

export async function openTcpProxy(serverPort: number): Promise<TcpProxy> {
  /** Both ends of each connection. */
  const pairs = new Set<[near: Socket, far: Socket]>();
  let isolation: 'silent' | 'reset' | undefined;

  const server = createServer({ noDelay: true, pauseOnConnect: true }, (near) => {
    near.on('error', () => {});
    if (isolation === 'reset') {
      near.resetAndDestroy();
      return;
    }
    const far = connect({ port: serverPort, host: '127.0.0.1', noDelay: true });
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    far.on('error', () => {});
    for (const socket of pair)
      socket.on('close', () => {
        pairs.delete(pair);
        near.destroy();
        far.destroy();
      });
    if (isolation === undefined) forward(pair);
    else far.pause();
  });

  function stall(): void {
    for (const socket of [...pairs].flat()) socket.unpipe().pause();
  }
  function cut(): void {
    for (const socket of [...pairs].flat()) socket.destroy();
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stall,
    cut,
    isolate(manner) {
      isolation = manner;
      if (manner === 'silent') stall();
      else for (const socket of [...pairs].flat()) socket.resetAndDestroy();
    },
    restore() {
      const wasSilent = isolation === 'silent';
      isolation = undefined;
      if (wasSilent) for (const pair of pairs) forward(pair);
    },
    async [Symbol.asyncDispose]() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

function forward([near, far]: [Socket, Socket]): void {
  near.pipe(far);
  far.pipe(near);
}
