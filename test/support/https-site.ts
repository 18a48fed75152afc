import { once } from 'node:events';
import { request as forward, type IncomingMessage } from 'node:http';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { Certificate } from './certificates.ts';

/** A host name of the internet, served behind TLS on a free port of this machine. */
export interface HttpsSite extends AsyncDisposable {
  /** Method and path of each request, in order, without queries. */
  requests: string[];
  /** Sends a GET request to the site, whose name needs no DNS entry. Follows no redirects. Verifies its certificate. */
  get(path: string, headers?: Record<string, string>): Promise<Response>;
}

interface HttpsSiteOptions {
  name: string;
  certificate: Certificate;
  /** The certificate authority that clients trust, as PEM. */
  ca: string;
  /** The origin to which requests are passed on, as a reverse proxy does. */
  target: string;
}

export async function openHttpsSite({ name, certificate, ca, target }: HttpsSiteOptions): Promise<HttpsSite> {
  const requests: string[] = [];
  const server = createServer(certificate, (received, response) => {
    const { method, url = '/', headers } = received;
    requests.push(`${method} ${new URL(url, target).pathname}`);
    const passed = forward(new URL(url, target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    received.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    requests,
    async get(path, headers = {}) {
      const connection = { host: '127.0.0.1', port, servername: name, ca };
      const sent = request({ ...connection, path, headers: { ...headers, host: name } }).end();
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      const received = Object.entries(answer.headers).map(([key, value]) => [key, String(value)]);
      const { statusCode: status = 0 } = answer;
      const hasBody = status !== 204 && status !== 304;
      const body = hasBody ? (Readable.toWeb(answer) as ReadableStream<Uint8Array>) : null;
      return new Response(body, { status, headers: Object.fromEntries(received) });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
