import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Clock } from '../../lib/clock.ts';
import { ERRORS } from '../../lib/error-codes.ts';
import type { Ids } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { overloaded, overloadRefusals, retryAfterOverload } from '../../lib/overload.ts';
import { startTrace, traceparent } from '../../lib/trace.ts';
import { Admission } from '../admission.ts';
import { errorHeaders, errorText } from '../errors.ts';
import { SECURITY_HEADERS } from './security.ts';

interface WebhookAdmissionContext {
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
}

const TRIGGER = /^\/api\/v1\/deployments\/([^/?]+)\/(?:trigger|callback)(?:[?#]|$)/;
/** Scheme and authority of a request target in absolute form (RFC 9112, section 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?#]*/i;
/** A body of this length is read and discarded, so that the connection can be used again. */
const MAX_DISCARDED_BYTES = 64 * 1024;
/**
 * A refusal is sent after this time. A sender whose connections wait sends less, so that refusals take less of the time that
 * accepting other requests needs.
 */
const REFUSAL_DELAY_MS = 500;
/** Further refusals are sent at once. */
const MAX_DELAYED = 10_000;
const LOG_INTERVAL_MS = 1_000;
const MESSAGE = 'The service has more webhook requests than it can accept now. Try again later.';
const STATUS = ERRORS.DEPENDENCY_UNAVAILABLE.status;
/** As long as every request id. */
const ANY_ID = 'req_00000000000000000000000000';

interface Template {
  /** Names and values in turn, which Node writes as they are. */
  headers: string[];
  beforeId: string;
  afterId: string;
}

/** By `Retry-After`. Composing every response anew would cost half as much as the rest of a refusal. */
const templates = new Map<number, Template>();

function templateOf(retryAfterSeconds: number): Template {
  const known = templates.get(retryAfterSeconds);
  if (known) return known;
  const refusal = overloaded(MESSAGE, retryAfterSeconds);
  const text = errorText(refusal, ANY_ID);
  const headers = Object.entries({
    ...SECURITY_HEADERS,
    ...errorHeaders(refusal),
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(text.length),
  }).flat();
  const [beforeId = '', afterId = ''] = text.split(ANY_ID);
  const template = { headers, beforeId, afterId };
  templates.set(retryAfterSeconds, template);
  return template;
}

/**
 * Refuses webhook requests of an overloaded process before the HTTP framework sees them: accepting the others needs the
 * time. A refusal takes 16 µs, an accepted request 200 to 300 µs. It is counted, but has no span, and its log line counts the
 * refusals of a second. Requests with long bodies are refused by the framework, which knows how to end them.
 */
export function admitWebhooks(
  server: Server,
  { clock, ids, log, metrics }: WebhookAdmissionContext,
  admission: Pick<Admission, 'enter' | 'running'> = new Admission(clock),
) {
  const refusals = overloadRefusals(metrics, 'edge.webhooks');
  const refused = new WeakSet<IncomingMessage>();
  const [handle] = server.listeners('request') as ((
    request: IncomingMessage,
    response: ServerResponse,
  ) => void)[];
  if (!handle) throw new Error('the server has no handler yet');
  let unlogged = 0;
  let delayed = 0;

  function count(): void {
    refusals.inc();
    if (unlogged++ > 0) return;
    clock.after(LOG_INTERVAL_MS, () => {
      log.warn(
        { requests: unlogged, running: admission.running },
        'webhook requests were refused because the process is overloaded',
      );
      unlogged = 0;
    });
  }

  function refuseLater(response: ServerResponse): void {
    if (delayed >= MAX_DELAYED) {
      sendRefusal(response);
      return;
    }
    delayed++;
    clock.after(REFUSAL_DELAY_MS, () => {
      delayed--;
      sendRefusal(response);
    });
  }

  function sendRefusal(response: ServerResponse): void {
    if (response.destroyed) return;
    const requestId = ids('req');
    const { headers, beforeId, afterId } = templateOf(retryAfterOverload());
    const trace = traceparent(startTrace());
    response.writeHead(STATUS, [...headers, 'traceparent', trace, 'x-request-id', requestId]);
    response.end(beforeId + requestId + afterId, 'latin1');
  }

  server.removeListener('request', handle);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const deploymentId = triggeredDeployment(request);
    if (deploymentId === undefined) return handle(request, response);
    const leave = admission.enter(deploymentId);
    if (leave) {
      response.on('close', leave);
      return handle(request, response);
    }
    count();
    if (canDiscard(request)) return refuseLater(response);
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

/** Reads the target like the router, which removes the origin and decodes the path. Undefined for other requests. */
function triggeredDeployment({ method, url = '' }: IncomingMessage): string | undefined {
  if (method !== 'POST') return undefined;
  const isPlain = url.startsWith('/') && !url.includes('%');
  return TRIGGER.exec(isPlain ? url : decodedTarget(url))?.[1];
}

function decodedTarget(url: string): string {
  const [path = ''] = url.replace(ORIGIN, '').split(/[?#]/, 1);
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

function canDiscard({ headers, httpVersion }: IncomingMessage): boolean {
  const length = Number(headers['content-length']);
  return httpVersion === '1.1' && headers.expect === undefined && length <= MAX_DISCARDED_BYTES;
}
