import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../../../lib/clock.ts';
import { formatHostAddress, type HostAddress } from '../../../../lib/host-patterns.ts';
import { forwardedHeaders } from '../../kernel/network/forwarded-headers.ts';
import { relayAnswer } from './answer-relay.ts';
import { planUse, useCredentials } from './credential-use.ts';
import { type OutgoingRequest, refusePlaceholdersInBody } from './placeholders.ts';
import { ProxyRefusal } from './proxy-refusal.ts';
import type { RecentSecrets } from './recent-secrets.ts';
import { framingHeaders, readBeginning } from './request-body.ts';
import { checkRequest } from './request-check.ts';
import type { SandboxCredentials } from './sandbox-credentials.ts';
import { UpstreamError, type UpstreamPool } from './upstream-pool.ts';

/** What the requests of a sandbox share. */
export interface ExchangeContext {
  sandbox: SandboxCredentials;
  secrets: RecentSecrets;
  pool: UpstreamPool;
  clock: Clock;
}

/** A connection on which the client has completed the TLS handshake. */
export interface ClientConnection extends HostAddress {
  /** Why no request of the connection is forwarded, or undefined. */
  refusal?: string | undefined;
  /** Opens a connection to the checked address of the host. */
  connect(): Promise<Socket>;
}

/** Headers that the proxy sets itself. The proxy answers an expectation. */
const OWN_HEADERS = ['accept-encoding', 'content-length', 'expect', 'host'];
const HTTPS_PORT = 443;
const UNAUTHORIZED = 401;
/** Methods whose requests can be sent again when a kept connection was closed (RFC 9110, 9.2.2). */
const IDEMPOTENT = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'];

/** Forwards a request with its credentials, and the answer. Returns the number of bytes of the answer's body. */
export async function exchange(
  incoming: IncomingMessage,
  response: ServerResponse,
  connection: ClientConnection,
  { sandbox, secrets, pool, clock }: ExchangeContext,
  signal: AbortSignal,
): Promise<number> {
  if (connection.refusal !== undefined) throw new ProxyRefusal(403, connection.refusal);
  checkRequest(incoming, connection);
  const plan = planUse(outgoingRequest(incoming, connection), connection, sandbox);
  const beginning = await readBeginning(incoming);
  refusePlaceholdersInBody(beginning, sandbox.variables());
  const { request, refused } = await useCredentials(plan, connection, secrets);
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    const sent = pool.send(request, connection);
    const abort = () => sent.body.destroy();
    signal.addEventListener('abort', abort, { once: true });
    try {
      if (beginning.length > 0) sent.body.write(beginning);
      if (incoming.readableEnded) sent.body.end();
      else incoming.pipe(sent.body);
      const answer = await sent.answer;
      // Reported before the program can send its next request. The program decides whether it repeats this one.
      if (answer.statusCode === UNAUTHORIZED) refused?.();
      return await relayAnswer(answer, response, secrets.patternsFor(formatHostAddress(connection)), clock);
    } catch (error) {
      abort();
      const canRetry = incoming.readableEnded && IDEMPOTENT.includes(request.method) && attempt === 1;
      if (!(canRetry && error instanceof UpstreamError && error.wasKept) || response.headersSent) throw error;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }
}

function outgoingRequest(incoming: IncomingMessage, { host, port }: HostAddress): OutgoingRequest {
  const flat = forwardedHeaders(incoming);
  const headers = flat.flatMap((name, at): [string, string][] =>
    at % 2 === 1 || OWN_HEADERS.includes(name.toLowerCase()) ? [] : [[name, flat[at + 1] ?? '']],
  );
  return {
    method: incoming.method ?? 'GET',
    target: incoming.url ?? '/',
    headers: [
      ['Host', port === HTTPS_PORT ? host : `${host}:${port}`],
      ...headers,
      // The proxy searches the answer, and programs need not accept compression.
      ['Accept-Encoding', 'identity'],
      ...framingHeaders(incoming),
    ],
  };
}
