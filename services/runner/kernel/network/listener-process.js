import { createServer } from 'node:net';

/**
 * Program that the runner starts in the network namespace of a sandbox before any command runs there. It opens a
 * listening socket, passes the socket to the runner and exits. The runner accepts the connections without being in
 * that network. It is JavaScript, because it starts with each sandbox: Node would load its TypeScript compiler, which takes longer
 * than the rest.
 */
const [, , port = ''] = process.argv;
const server = createServer().listen({ host: '127.0.0.1', port: Number(port) }, () => {
  process.send?.('here', server, {}, () => {
    server.close();
    process.disconnect();
  });
});
