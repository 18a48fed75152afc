import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** How long the server works on a call after it has counted it. */
const WORK_MS = 4;

export interface Counted {
  /** Of the session: what its user has said. */
  key: string;
  toolUseId: string;
  attempt: number;
}

export interface Counter extends AsyncDisposable {
  url: string;
  /** Every call that has ever reached it. */
  calls: Counted[];
}

/** A server with an outside effect: it counts. A call is counted for good as soon as the head of its answer is out. */
export async function startCounter(): Promise<Counter> {
  const calls: Counted[] = [];
  const server = createServer(async (request, response) => {
    calls.push(JSON.parse(await text(request)) as Counted);
    response.writeHead(200).flushHeaders();
    setTimeout(() => response.end(`counted ${calls.length}`), WORK_MS);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    calls,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
