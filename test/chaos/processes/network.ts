import { openTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';

/** `silent`: bytes are held back until the end. `reset`: connections are reset. */
export type Isolation = Parameters<TcpProxy['isolate']>[0];

/** The gRPC connections between processes: one proxy for each pair of caller and called process. */
export interface Network extends AsyncDisposable {
  /** Returns the address at which `caller` reaches the process that listens on `port`. */
  addressFor(caller: string, called: string, port: number): Promise<string>;
  /** Isolates a process from the processes that it calls and from those that call it. */
  isolate(process: string, manner: Isolation): void;
  restore(process: string): void;
}

export function openNetwork(): Network {
  const links: { caller: string; called: string; proxy: TcpProxy }[] = [];
  const proxiesOf = (process: string) =>
    links.filter(({ caller, called }) => process === caller || process === called).map(({ proxy }) => proxy);
  return {
    async addressFor(caller, called, port) {
      const proxy = await openTcpProxy(port);
      links.push({ caller, called, proxy });
      return `127.0.0.1:${proxy.port}`;
    },
    isolate(process, manner) {
      for (const proxy of proxiesOf(process)) proxy.isolate(manner);
    },
    restore(process) {
      for (const proxy of proxiesOf(process)) proxy.restore();
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(links.map(({ proxy }) => proxy[Symbol.asyncDispose]()));
    },
  };
}
