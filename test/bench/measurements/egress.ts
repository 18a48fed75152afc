import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as sendRequest } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { createAuthority } from '../../support/certificates.ts';
import { type Bench, percentile } from '../bench.ts';
import type { ProxyRequest, ProxyWorkerConfig } from '../workers/proxy-worker.ts';

/** Times in milliseconds are medians. */
export interface Egress {
  keptMs: { intercepted: number; tunnel: number };
  /** A host without a credential, on a kept connection. */
  otherMs: { tunnel: number; bare: number };
  newMs: { intercepted: number; tunnel: number };
  mibPerSecond: { intercepted: number; tunnel: number; bare: number };
  /** Memory of a kept intercepted connection, and of a sandbox with 16 hosts. */
  connectionKib: number;
  sandboxMib: number;
  /** Event loop delay of the proxies while four sandboxes load 64 MiB each, p99. */
  delayMs: { intercepted: number; tunnel: number };
}

const MIB = 1024 * 1024;
const LOAD_MIB = 64;
const KEPT = 1_000;
const NEW = 100;
/** The proxy of a sandbox accepts 128 connections, counting those to hosts. */
const CONNECTIONS = 50;
const WARM_UPS = 200;
const SANDBOXES = 20;
const HOSTS = Array.from({ length: 16 }, (_, index) => `h${index}.bound.test`);
const [BOUND = ''] = HOSTS;
const OTHER = 'other.test';

interface Route {
  host: string;
  port: number;
  ca: string;
}

/**
 * m': requests through the proxy of a sandbox, which intercepts hosts with a credential and tunnels others, beside a proxy
 * without credentials (`bare`). Client and host are in this process, the proxies in another one.
 */
export async function measureEgress(bench: Bench): Promise<Egress> {
  await using stack = new AsyncDisposableStack();
  const authority = createAuthority('benchmark');
  const load = Buffer.alloc(MIB, 'x');
  const upstream = createServer(authority.issue({ names: [...HOSTS, OTHER] }), async ({ url }, response) => {
    if (url !== '/load') return void response.end('an answer');
    response.setHeader('Content-Length', LOAD_MIB * MIB);
    for (let sent = 0; sent < LOAD_MIB; sent++) if (!response.write(load)) await once(response, 'drain');
    response.end();
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  stack.defer(() => {
    upstream.closeAllConnections();
    upstream.close();
  });
  const { port: upstreamPort } = upstream.address() as AddressInfo;
  const config: ProxyWorkerConfig = { upstreamPort, root: authority.cert, bound: HOSTS, others: [OTHER] };
  const worker = fork(join(import.meta.dirname, '../workers/proxy-worker.ts'), [JSON.stringify(config)], {
    // The young generation grows with the rate of work and does not shrink, so its growth is no memory of a sandbox.
    execArgv: ['--expose-gc', '--max-semi-space-size=8'],
  });
  stack.defer(() => void worker.kill());
  const open = (intercepts: boolean) =>
    ask<{ port: number; certificate: string }>(worker, { kind: 'open', intercepts });
  const memory = async () => (await ask<{ bytes: number }>(worker, { kind: 'memory' })).bytes;

  const proxy = await open(true);
  const bareProxy = await open(false);
  const intercepted = { host: BOUND, port: proxy.port, ca: proxy.certificate };
  const tunnel = { host: OTHER, port: proxy.port, ca: authority.cert };
  const bare = { ...tunnel, port: bareProxy.port };
  for (let time = 0; time < WARM_UPS; time++) await getOnce(intercepted, '/');
  const beforeConnections = await memory();
  const agent = agentFor(intercepted, true);
  await Promise.all(Array.from({ length: CONNECTIONS }, () => get(agent, '/')));
  const connectionKib = ((await memory()) - beforeConnections) / CONNECTIONS / 1024;
  agent.destroy();

  const kept = await medians([intercepted, tunnel], KEPT * bench.scale, true);
  const others = await medians([tunnel, bare], KEPT * bench.scale, true);
  const fresh = await medians([intercepted, tunnel], NEW * bench.scale, false);
  const rates = await loadRates([intercepted, tunnel, bare]);

  const beforeSandboxes = await memory();
  for (let sandbox = 0; sandbox < SANDBOXES * bench.scale; sandbox++) {
    const { port, certificate: ca } = await open(true);
    for (const host of HOSTS) await getOnce({ host, port, ca }, '/');
  }
  const sandboxMib = ((await memory()) - beforeSandboxes) / Math.ceil(SANDBOXES * bench.scale) / MIB;

  const loading: { port: number; certificate: string }[] = [];
  for (let sandbox = 0; sandbox < 4; sandbox++) loading.push(await open(true));
  const delayOf = async (routes: readonly Route[]): Promise<number> => {
    await ask(worker, { kind: 'delay', isBegin: true });
    await Promise.all(routes.map((route) => getOnce(route, '/load')));
    return (await ask<{ p99Ms: number }>(worker, { kind: 'delay', isBegin: false })).p99Ms;
  };
  const delayMs = {
    intercepted: await delayOf(loading.map(({ port, certificate: ca }) => ({ host: BOUND, port, ca }))),
    tunnel: await delayOf(loading.map(({ port }) => ({ ...tunnel, port }))),
  };

  const egress: Egress = {
    keptMs: { intercepted: kept[0] ?? 0, tunnel: kept[1] ?? 0 },
    otherMs: { tunnel: others[0] ?? 0, bare: others[1] ?? 0 },
    newMs: { intercepted: fresh[0] ?? 0, tunnel: fresh[1] ?? 0 },
    mibPerSecond: { intercepted: rates[0] ?? 0, tunnel: rates[1] ?? 0, bare: rates[2] ?? 0 },
    connectionKib,
    sandboxMib,
    delayMs,
  };
  bench.print(
    "m'",
    `egress: ${JSON.stringify(egress, (_, value) => (typeof value === 'number' ? Number(value.toFixed(2)) : value))}`,
  );
  return egress;
}

async function ask<Answer = object>(worker: ChildProcess, request: ProxyRequest): Promise<Answer> {
  worker.send(request);
  const [answer] = (await once(worker, 'message')) as [Answer];
  return answer;
}

/** Returns the median time of a request on each route. The routes take turns. */
async function medians(routes: readonly Route[], times: number, isKept: boolean): Promise<number[]> {
  const agents = routes.map((route) => agentFor(route, isKept));
  const measured = routes.map((): number[] => []);
  for (let time = -10; time < times; time++)
    // The first one has the work that the last one has left behind, so they take turns.
    for (const [index, agent] of time % 2 === 0 ? agents.entries() : [...agents.entries()].reverse()) {
      const startedAt = performance.now();
      await get(agent, '/');
      if (time >= 0) measured[index]?.push(performance.now() - startedAt);
    }
  for (const agent of agents) agent.destroy();
  return measured.map((all) => percentile(all, 0.5));
}

/** Returns MiB per second of a large answer on each route. */
async function loadRates(routes: readonly Route[]): Promise<number[]> {
  const measured = routes.map((): number[] => []);
  for (let time = 0; time < 3; time++)
    for (const [index, route] of routes.entries()) {
      const startedAt = performance.now();
      await getOnce(route, '/load');
      measured[index]?.push((LOAD_MIB * 1_000) / (performance.now() - startedAt));
    }
  return measured.map((all) => percentile(all, 0.5));
}

function agentFor(route: Route, keepAlive: boolean): Agent {
  const agent = new Agent({ keepAlive });
  agent.createConnection = (_, done) => {
    openConnection(route).then(
      (socket) => done?.(null, socket),
      (error: Error) => done?.(error, undefined as never),
    );
    return undefined;
  };
  return Object.assign(agent, { route });
}

async function openConnection({ host, port, ca }: Route): Promise<TLSSocket> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  socket.write(`CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}:443\r\n\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  if (!answer.toString().startsWith('HTTP/1.1 200')) throw new Error(`the proxy answered ${answer}`);
  const encrypted = connectTls({ socket, servername: host, ca, ALPNProtocols: ['http/1.1'] });
  await once(encrypted, 'secureConnect');
  return encrypted;
}

/** Returns the number of bytes of an answer. */
async function get(agent: Agent, path: string): Promise<number> {
  const { host } = (agent as Agent & { route: Route }).route;
  const outgoing = sendRequest({ agent, path, headers: { Host: host } }).end();
  const [response] = (await once(outgoing, 'response')) as [import('node:http').IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`the status is ${response.statusCode}`);
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await once(response, 'end');
  return bytes;
}

async function getOnce(route: Route, path: string): Promise<void> {
  const agent = agentFor(route, false);
  await get(agent, path);
  agent.destroy();
}
