import { Agent, type RequestListener, request as sendRequest } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { type Clock, systemClock } from '../../../../lib/clock.ts';
import { type HostPattern, readHostPattern } from '../../../../lib/hosts.ts';
import { Secret } from '../../../../lib/secret.ts';
import { createEgressPolicy } from '../../../../services/runner/kernel/network/egress-policy.ts';
import { HttpProxy } from '../../../../services/runner/kernel/network/http-proxy.ts';
import type {
  EgressCredentials,
  EgressLending,
  EgressNeed,
} from '../../../../services/runner/network/intercept/egress-credentials.ts';
import { TlsInterceptor } from '../../../../services/runner/network/intercept/interceptor.ts';
import { trusting } from '../../../../services/runner/network/intercept/system-roots.ts';
import { type Authority, createAuthority } from '../../../support/certificates.ts';

export const PUBLIC = '93.184.216.34';
export const VALUE = 'secret-canary/0123456789';
export const TOKEN_HEADER = 'Bearer header-canary-0123456789';
export const PLACEHOLDER = `ghp_${'Zy9_'.repeat(8)}`;
/** `variable.test` has a variable, `header.test` an attached header, `plain.test` no credential. */
const NAMES = ['variable.test', 'header.test', 'plain.test', 'badcert.test'];

const RULES = {
  headers: ['authorization', 'x-key'],
  basic: true,
  query: ['key'],
  methods: [],
  pathPrefixes: [],
};

export interface FakeCredentials extends EgressCredentials {
  needs: EgressNeed[];
  echoes: string[];
  /** The number of refusals that were reported for the attached header. */
  refusals: number;
  /** The result of lend, instead of the secrets. */
  answer: EgressLending | undefined;
}

export function createFakeCredentials(sessionId: string, placeholder = PLACEHOLDER): FakeCredentials {
  const usableUntil = Date.now() + 60_000;
  return {
    sessionId,
    needs: [],
    echoes: [],
    refusals: 0,
    answer: undefined,
    hosts: [{ host: 'header.test', headers: ['authorization'] }],
    variables: [{ name: 'TOKEN', hosts: ['variable.test', 'badcert.test'], placeholder, rules: RULES }],
    async lend(need) {
      this.needs.push(need);
      if (this.answer) return this.answer;
      return need.variable === undefined
        ? {
            kind: 'lent',
            credentialId: 'crd_header',
            headers: { authorization: new Secret(TOKEN_HEADER) },
            usableUntil,
            refused: () => void this.refusals++,
          }
        : { kind: 'lent', credentialId: 'crd_variable', value: new Secret(VALUE), usableUntil };
    },
    reportEcho(credentialId, host) {
      this.echoes.push(`${credentialId} ${host}`);
    },
  };
}

interface Options {
  answer?: RequestListener;
  allowed?: readonly string[];
  clock?: Clock;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** Whether the answer ended as its headers had announced. */
  isComplete: boolean;
}

/** Starts a proxy that intercepts TLS, and one server that receives the connections to all addresses. */
export async function startInterceptingProxy({ answer, allowed = NAMES, clock = systemClock }: Options = {}) {
  const trusted = createAuthority('trusted');
  const untrusted = createAuthority('untrusted');
  const seen: { method: string; url: string; headers: string[]; body: string }[] = [];
  const certificate = (authority: Authority, names: string[]) => authority.issue({ names });
  let connections = 0;
  const respond: RequestListener = answer ?? ((_, response) => response.end('from upstream'));
  const listener: RequestListener = async (incoming, response) => {
    let body = '';
    for await (const chunk of incoming) body += chunk;
    const { method = '', url = '', rawHeaders: headers } = incoming;
    seen.push({ method, url, headers, body });
    respond(incoming, response);
  };
  const good = createHttpsServer(certificate(trusted, NAMES), listener);
  const bad = createHttpsServer(certificate(untrusted, NAMES), listener);
  good.on('secureConnection', () => connections++);
  const dialer = {
    resolve: async (host: string) => (NAMES.includes(host) ? [PUBLIC] : []),
    dial: (address: string) => connect(portOf(address === PUBLIC ? good : bad), '127.0.0.1'),
  };
  const patterns = allowed.map((text) => readHostPattern(text) as HostPattern);
  const metrics: string[] = [];
  const lines: object[] = [];
  const interceptor = new TlsInterceptor({
    clock,
    log: { debug: (fields: object) => lines.push(fields) } as never,
    metrics: { noteRequest: (hostClass, outcome) => metrics.push(`${hostClass} ${outcome}`) },
    roots: trusting(() => [trusted.cert]),
  });
  const refused: string[] = [];
  const badDialer = {
    ...dialer,
    resolve: async (host: string) =>
      host === 'badcert.test' ? ['93.184.216.35'] : await dialer.resolve(host),
  };
  const proxy = new HttpProxy({
    policy: createEgressPolicy(patterns, badDialer),
    clock,
    interceptor,
    onRefusal: (host, port) => void refused.push(`${host} ${port}`),
  });
  const listening = createTcpServer((client) => proxy.accept(client));
  for (const server of [good, bad, listening])
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const credentials = createFakeCredentials('ses_1');
  const entered = interceptor.enter(credentials);
  const ca = await interceptor.certificate();

  /** Opens a TLS connection to a host through the proxy. */
  async function open(
    host: string,
    tls: { servername?: string; alpn?: string[]; ca?: string } = {},
  ): Promise<TLSSocket> {
    const { status, socket } = await openTunnel(portOf(listening), `${host}:443`);
    if (status !== 200) throw new Error(`the proxy answered ${status}`);
    const { servername = host, alpn = ['http/1.1'] } = tls;
    const options = { socket, servername, ca: [tls.ca ?? ca], ALPNProtocols: alpn };
    const encrypted = connectTls({ ...options, checkServerIdentity: () => undefined });
    await new Promise<void>((resolve, reject) =>
      encrypted.once('secureConnect', resolve).once('error', reject),
    );
    return encrypted.on('error', () => {});
  }

  const agents = new Set<Agent>();
  function agentFor(host: string, options: Parameters<typeof open>[1] & { keepAlive?: boolean } = {}): Agent {
    const agent = new Agent({ keepAlive: options.keepAlive ?? false });
    agents.add(agent);
    agent.createConnection = (_, done) => {
      open(host, options).then(
        (socket) => done?.(null, socket),
        (error: Error) => done?.(error, undefined as never),
      );
      return undefined;
    };
    return agent;
  }

  return {
    agentFor,
    port: portOf(listening),
    proxy,
    interceptor,
    credentials,
    entered,
    seen,
    metrics,
    lines,
    refused,
    trusted,
    ca,
    open,
    get connections() {
      return connections;
    },
    /** Sends a request over a connection of its own, or over a given one. */
    async get(
      host: string,
      path: string,
      { method = 'GET', headers = [], body = '', agent = agentFor(host) }: GetOptions = {},
    ): Promise<Answer> {
      const hostHeader = headers.includes('Host') ? [] : ['Host', host];
      const length = body === '' ? [] : ['Content-Length', String(Buffer.byteLength(body))];
      const flat = [...hostHeader, ...headers, ...length];
      const outgoing = sendRequest({ agent, path, method, headers: flat, setHost: false });
      outgoing.end(body);
      return await new Promise((resolve, reject) => {
        outgoing.once('error', reject);
        outgoing.once('response', (incoming) => {
          let text = '';
          incoming.on('data', (chunk) => {
            text += chunk;
          });
          incoming.on('error', () => {});
          incoming.once('close', () =>
            resolve({
              status: incoming.statusCode ?? 0,
              headers: incoming.headers as Record<string, string>,
              body: text,
              isComplete: incoming.complete,
            }),
          );
        });
      });
    },
    /** Sends bytes over a connection of its own, and returns everything that the proxy answers. */
    async sendRaw(host: string, text: string | Buffer): Promise<string> {
      const socket = await open(host);
      socket.write(text);
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk;
      });
      await new Promise((resolve) => socket.once('close', resolve));
      return received;
    },
    async [Symbol.asyncDispose]() {
      for (const agent of agents) agent.destroy();
      proxy.close();
      for (const server of [listening, good, bad]) await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface GetOptions {
  method?: string;
  headers?: string[];
  body?: string;
  /** Absent: a connection of its own. */
  agent?: Agent;
}

export async function openTunnel(
  port: number,
  target: string,
): Promise<{ status: number; socket: Socket; text: string }> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
  const text = await new Promise<string>((resolve) =>
    socket.once('data', (chunk) => resolve(chunk.toString())),
  );
  return { status: Number(text.split(' ')[1]), socket, text };
}

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;
