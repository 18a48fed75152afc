import { systemClock } from '../../../lib/clock.ts';
import { createMcpConnector } from '../../../lib/mcp/open.ts';
import { OutboundClient } from '../../../lib/outbound/outbound-client.ts';

/* A process that reads catalogues of MCP servers and sends its parent the largest growth of its memory meanwhile. */

const SAMPLE_MS = 5;
const port = Number(process.argv[2]);
const outbound = new OutboundClient({ clock: systemClock, privateHosts: [{ host: '127.0.0.1', port }] });
const connect = createMcpConnector(outbound, systemClock);

async function grownWhileReading(path: string): Promise<number> {
  globalThis.gc?.();
  const before = used();
  let most = 0;
  const sample = () => {
    most = Math.max(most, used() - before);
  };
  const timer = setInterval(sample, SAMPLE_MS);
  const endpoint = {
    url: `http://127.0.0.1:${port}${path}`,
    transport: 'streamable_http',
    timeoutSeconds: 60,
  };
  const connection = await connect(endpoint);
  const { json } = await connection.readCatalogue();
  sample();
  clearInterval(timer);
  await connection.close();
  if (json.length === 0) throw new Error('the catalogue is empty');
  return most;
}

function used(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

await grownWhileReading('/small');
process.send?.({ grown: await grownWhileReading('/hostile') });
process.once('disconnect', () => process.exit());
