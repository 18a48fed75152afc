import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Clock } from '../../lib/clock.ts';
import type { Ids } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { overloaded, overloadRefusals } from '../../lib/overload.ts';
import { Admission } from '../admission.ts';
import { errorHeaders, errorText, statusOf } from '../errors.ts';
import { SECURITY_HEADERS } from './security.ts';

interface WebhookAdmissionContext {
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
}

const TRIGGER = /^\/api\/v1\/deployments\/([^/?]+)\/trigger(?:\?|$)/;
/** A body of this length is read and discarded, so that the connection can be used again. */
const MAX_DISCARDED_BYTES = 64 * 1024;
const LOG_INTERVAL_MS = 1_000;
const MESSAGE = 'The service has more webhook requests than it can accept now. Try again later.';

/**
 * Refuses webhook requests of an overloaded process before the HTTP framework sees them: accepting the others needs the
 * time. A refusal costs a tenth of an accepted request. It is counted, but has no span, and its log line counts the
 * refusals of a second. Requests with long bodies are refused by the framework, which knows how to end them.
 */
export function admitWebhooks(server: Server, { clock, ids, log, metrics }: WebhookAdmissionContext) {
  const admission = new Admission(clock);
  const refusals = overloadRefusals(metrics, 'edge.webhooks');
  const refused = new WeakSet<IncomingMessage>();
  const [handle] = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[];
  if (!handle) throw new Error('the server has no handler yet');
  let unlogged = 0;

  function count(): void {
    refusals.inc();
    if (unlogged++ > 0) return;
    clock.after(LOG_INTERVAL_MS, () => {
      log.warn({ requests: unlogged, running: admission.running }, 'webhook requests were refused because the process is overloaded');
      unlogged = 0;
    });
  }

  function refuseAtOnce(response: ServerResponse): void {
    const requestId = ids('req');
    const refusal = overloaded(MESSAGE);
    const text = errorText(refusal, requestId);
    response.writeHead(statusOf(refusal), {
      ...SECURITY_HEADERS,
      ...errorHeaders(refusal),
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      'x-request-id': requestId,
    });
    response.end(text);
  }

  server.removeListener('request', handle);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const deploymentId = request.method === 'POST' ? TRIGGER.exec(request.url ?? '')?.[1] : undefined;
    if (deploymentId === undefined) return handle(request, response);
    const leave = admission.enter(deploymentId);
    if (leave) {
      response.on('close', leave);
      return handle(request, response);
    }
    count();
    if (canDiscard(request)) return refuseAtOnce(response);
    refused.add(request);
    handle(request, response);
  });

  return {
    /** Throws the refusal of a request that the framework has to refuse. */
    check(request: IncomingMessage): void {
      if (refused.has(request)) throw overloaded(MESSAGE);
    },
  };
}

function canDiscard({ headers, httpVersion }: IncomingMessage): boolean {
  const length = Number(headers['content-length']);
  return httpVersion === '1.1' && headers.expect === undefined && length <= MAX_DISCARDED_BYTES;
}
