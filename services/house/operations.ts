import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Metrics } from '../../lib/metrics.ts';
import type { Module, Readiness } from '../../lib/modules.ts';

const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

export interface OperationsOptions {
  /** `host:port`; IPv6 in brackets. */
  listen: string;
  metrics: Metrics;
  readiness(): Promise<Readiness[]>;
}

/** What machines ask any process, at an address of its own: whether it lives, whether it can work, what it has done. */
export async function serveOperations({ listen, metrics, readiness }: OperationsOptions): Promise<Module> {
  const pages: Record<string, (answer: Answer) => Promise<void>> = {
    '/metrics': async (answer) => answer(200, metrics.contentType, await metrics.text()),
    '/livez': async (answer) => answer(200, 'application/json', '{"status":"alive"}'),
    '/healthz': (answer) => tell(answer),
    '/readyz': (answer) => tell(answer),
  };

  async function tell(answer: Answer): Promise<void> {
    const checks = await readiness();
    const isReady = checks.every(({ ok }) => ok);
    const shown = checks.map(({ name, ok, problem }) => ({ name, status: ok ? 'ok' : 'failing', problem }));
    const status = isReady ? 'ready' : 'unready';
    answer(isReady ? 200 : 503, 'application/json', JSON.stringify({ status, checks: shown }));
  }

  async function respond({ method, url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer: Answer = (status, type, text) => {
      response.writeHead(status, { ...HEADERS, 'content-type': type });
      response.end(method === 'HEAD' ? undefined : text);
    };
    const page = pages[url.split('?', 1)[0] ?? ''];
    if (!page) return answer(404, 'text/plain', 'There is /metrics, /livez, /healthz and /readyz.\n');
    if (method !== 'GET' && method !== 'HEAD') return answer(405, 'text/plain', 'These are only read.\n');
    await page(answer);
  }

  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  const [, host = '', port] = /^\[?([^\]]+)\]?:(\d+)$/.exec(listen) ?? [];
  server.listen(Number(port), host);
  await once(server, 'listening');
  return {
    name: 'metrics',
    async stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

type Answer = (status: number, type: string, text: string) => void;
