import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { startTlsServer, type TlsServerConfig } from './tls-server.ts';

/** An HTTP server on every address of its network namespace. It reports the Host header of each request to its parent. */
const server = createServer(({ headers }, response) => {
  process.send?.({ requestedHost: headers.host });
  response.end('from afar');
});
const [, , tlsFile] = process.argv;
if (tlsFile !== undefined) await startTlsServer(JSON.parse(readFileSync(tlsFile, 'utf8')) as TlsServerConfig);
server.listen(80, '0.0.0.0', () => process.send?.({ listens: true }));
process.once('disconnect', () => process.exit());
