/**
 * The bare limit of file transfers: node:http that hashes what it writes to disk and what it reads. It responds when the file
 * is on disk. It has no tree, rows or owners.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const [port = '', directory = ''] = process.argv.slice(2);

function hashing(): Transform {
  const hash = createHash('sha256');
  return new Transform({
    transform(chunk, _, done) {
      hash.update(chunk);
      done(null, chunk);
    },
    flush(done) {
      hash.digest();
      done();
    },
  });
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const name = url.searchParams.get('path');
  if (name === null) return void response.end();
  const path = join(directory, name);
  if (request.method === 'PUT') {
    await pipeline(request, hashing(), createWriteStream(path, { flush: true }));
    response.writeHead(201).end();
  } else await pipeline(createReadStream(path), hashing(), response).catch(() => {});
});
server.requestTimeout = 0;
server.listen(Number(port), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
