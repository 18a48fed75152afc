import { createServer } from 'node:http';

/** An HTTP server on every address of its network namespace. It reports the Host header of each request to its parent. */
const server = createServer(({ headers }, response) => {
  process.send?.({ requestedHost: headers.host });
  response.end('from afar');
});
server.listen(80, '0.0.0.0', () => process.send?.({ listens: true }));
process.once('disconnect', () => process.exit());
