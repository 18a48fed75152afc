import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { http } from '../../lib/http.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { type Backend, type Module, type Readiness, statusOf } from '../../lib/modules.ts';

const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

interface OperationsOptions {
  /** `host:port`; IPv6 in brackets. */
  listen: string;
  metrics: Metrics;
  readiness(): Promise<Readiness[]>;
  backends: readonly Backend[];
}

/** Serves liveness, readiness and metrics of a process at a separate address. */
export async function startOperationsServer({
  listen,
  metrics,
  readiness,
  backends,
}: OperationsOptions): Promise<Module> {
  const routes: Record<string, (respond: Respond) => Promise<void>> = {
    '/metrics': async (respond) => respond(200, metrics.contentType, await metrics.text()),
    '/livez': async (respond) => respond(200, 'application/json', '{"status":"alive"}'),
    '/healthz': (respond) => sendReadiness(respond),
    '/readyz': (respond) => sendReadiness(respond),
  };

  async function sendReadiness(respond: Respond): Promise<void> {
    const checks = await readiness();
    const status = statusOf(checks);
    const shown = {
      status,
      checks: checks.map(({ name, status, problem }) => ({ name, status, problem })),
      in_force: backends.map(({ role, description }) => ({ role, in_force: description })),
    };
    respond(status === 'unready' ? 503 : 200, 'application/json', JSON.stringify(shown));
  }

  async function handle({ method, url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
    const respond: Respond = (status, type, text) => {
      response.writeHead(status, { ...HEADERS, 'content-type': type });
      response.end(method === 'HEAD' ? undefined : text);
    };
    const route = routes[url.split('?', 1)[0] ?? ''];
    if (!route)
      return respond(404, 'text/plain', 'Unknown path. Available: /metrics, /livez, /healthz, /readyz.\n');
    if (method !== 'GET' && method !== 'HEAD')
      return respond(405, 'text/plain', 'Method not allowed. Use GET or HEAD.\n');
    await route(respond);
  }

  const server = http.createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
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

type Respond = (status: number, type: string, text: string) => void;
