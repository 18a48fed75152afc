import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

/** Just below the limits of a catalogue. */
const VALUES = 99_000;
const TEXT_BYTES = 1_700 * 1024;
const MIB = 1024 * 1024;
const WORKER = fileURLToPath(new URL('../workers/catalogue-worker.ts', import.meta.url));
const DISCOVERED = JSON.stringify({
  ...{ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
  serverInfo: { name: 'hostile', version: '1' },
});

/**
 * A process of its own reads a small catalogue and then one with as many small values as fit into the limits, so that
 * neither the program nor the garbage of other measurements counts.
 */
export async function measureCatalogue(): Promise<{ catalogueMib: number; catalogueBytes: number }> {
  const catalogues: Record<string, Buffer> = {
    '/small': Buffer.from('[1]'),
    '/hostile': Buffer.from(`["${'x'.repeat(TEXT_BYTES)}"${',1'.repeat(VALUES)}]`),
  };
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString() || '{}');
    const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"resultType":"complete","ttlMs":0,"cacheScope":"public",`;
    response.setHeader('Content-Type', 'application/json');
    if (method === 'server/discover') return void response.end(`${head}${DISCOVERED.slice(1)}}`);
    response.write(`${head}"tools":[{"name":"hostile","inputSchema":{"type":"object","enum":`);
    response.write(catalogues[request.url ?? '']);
    response.end('}}]}}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const worker = fork(WORKER, [`${port}`], { execArgv: ['--expose-gc'] });
  try {
    const [{ grown }] = (await once(worker, 'message')) as [{ grown: number }];
    return { catalogueMib: grown / MIB, catalogueBytes: catalogues['/hostile']?.length ?? 0 };
  } finally {
    worker.kill();
    server.closeAllConnections();
    server.close();
  }
}
