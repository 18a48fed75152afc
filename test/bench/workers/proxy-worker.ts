import { connect, createServer, type Server } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { systemClock } from '../../../lib/clock.ts';
import { readHostPattern } from '../../../lib/hosts.ts';
import { Secret } from '../../../lib/secret.ts';
import { createEgressPolicy } from '../../../services/runner/kernel/network/egress-policy.ts';
import { HttpProxy } from '../../../services/runner/kernel/network/http-proxy.ts';
import { TlsInterceptor } from '../../../services/runner/network/intercept/interceptor.ts';
import { trusting } from '../../../services/runner/network/intercept/system-roots.ts';

/*
 * A process with the proxies of sandboxes, whose hosts are a server of the benchmark. It answers the messages of its parent
 * in order.
 */

export interface ProxyWorkerConfig {
  upstreamPort: number;
  /** The certificate that the proxies trust. */
  root: string;
  /** Hosts with a credential. */
  bound: readonly string[];
  /** Hosts without a credential. */
  others: readonly string[];
}

export type ProxyRequest =
  | { kind: 'open'; intercepts: boolean }
  | { kind: 'memory' }
  | { kind: 'delay'; isBegin: boolean };

const NANOSECONDS = 1_000_000;
const config = JSON.parse(process.argv[2] ?? '') as ProxyWorkerConfig;
const dialer = {
  resolve: async () => ['93.184.216.34'],
  dial: () => connect(config.upstreamPort, '127.0.0.1').setNoDelay(true),
};
const roots = trusting(() => [config.root]);
const patterns = [...config.bound, ...config.others].flatMap((host) => {
  const pattern = readHostPattern(host);
  return 'problem' in pattern ? [] : [pattern];
});
const servers: Server[] = [];
let delay = monitorEventLoopDelay({ resolution: 1 });

async function openProxy(intercepts: boolean): Promise<{ port: number; certificate: string }> {
  const interceptor = new TlsInterceptor({
    clock: systemClock,
    log: { debug() {}, warn() {} } as never,
    metrics: { noteRequest() {} },
    roots,
  });
  if (intercepts)
    interceptor.enter({
      sessionId: 'ses_1',
      hosts: config.bound.map((host) => ({ host, headers: ['authorization'] })),
      variables: [],
      lend: async () => ({
        kind: 'lent',
        credentialId: 'crd_1',
        headers: { authorization: new Secret('Bearer a-token-of-the-benchmark-0123456789') },
        usableUntil: Date.now() + 60_000,
      }),
      reportEcho() {},
    });
  const proxy = new HttpProxy({
    policy: createEgressPolicy(patterns, dialer),
    clock: systemClock,
    ...(intercepts ? { interceptor } : {}),
    onRefusal(host, _, reason) {
      throw new Error(`${host}: ${reason}`);
    },
  });
  const server = createServer((client) => proxy.accept(client));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const certificate = intercepts ? await interceptor.certificate() : '';
  return { port: (server.address() as { port: number }).port, certificate };
}

/** Memory outside V8 counts, because TLS connections are there. */
function memory(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().rss;
}

process.on('message', async (request: ProxyRequest) => {
  if (request.kind === 'open') process.send?.(await openProxy(request.intercepts));
  else if (request.kind === 'memory') process.send?.({ bytes: memory() });
  else if (request.isBegin) {
    delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    process.send?.({});
  } else {
    delay.disable();
    process.send?.({ p99Ms: delay.percentile(99) / NANOSECONDS });
  }
});
process.once('disconnect', () => process.exit());
