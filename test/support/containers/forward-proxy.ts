import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { connect, type Socket } from 'node:net';

/** An HTTP proxy, through which programs in another network namespace reach the servers that this process reaches. */
export async function startForwardProxy(host: string): Promise<{ url: string } & Disposable> {
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
  };
  const server = createServer((incoming, response) => {
    const { url = '', method, headers } = incoming;
    const outgoing = request(url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  });
  server.on('connection', track);
  server.on('connect', ({ url = '' }, client: Socket) => {
    const colon = url.lastIndexOf(':');
    const target = connect(Number(url.slice(colon + 1)), url.slice(0, colon), () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(target).pipe(client);
    });
    track(target);
    target.once('close', () => client.destroy());
    client.once('close', () => target.destroy());
  });
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://${host}:${port}`,
    [Symbol.dispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
