import { createServer } from 'node:net';

/**
 * A program that the runner starts in the network of a sandbox, before anything else is there. It begins to listen,
 * hands the place over to the runner, and ends: what connects there is with the runner, which is not in that network.
 */
const [, , port = ''] = process.argv;
const server = createServer().listen({ host: '127.0.0.1', port: Number(port) }, () => {
  process.send?.('here', server, {}, () => {
    server.close();
    process.disconnect();
  });
});
