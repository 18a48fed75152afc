import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Milliseconds between counting a call and the end of its response. */
const WORK_MS = 4;

export interface CountedCall {
  /** The user message of the session, which identifies it. */
  key: string;
  toolUseId: string;
  attempt: number;
}

export interface Counter extends AsyncDisposable {
  url: string;
  /** All received calls. */
  calls: CountedCall[];
}

/** Starts a server that represents an external effect: it counts calls. A call is counted before the response head is sent. */
export async function startCounter(): Promise<Counter> {
  const calls: CountedCall[] = [];
  const server = createServer(async (request, response) => {
    calls.push(JSON.parse(await text(request)) as CountedCall);
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
