import { client } from '../gen/client.gen.ts';
import type { ErrorEnvelope, Page } from '../gen/index.ts';
import type { ListPage } from './pages.ts';
import { ResponseCache } from './response-cache.ts';

export const API_BASE = '/api/v1';

/** Longer than any wait inside the service, so that a request fails visibly instead of hanging. */
const RESPONSE_TIMEOUT_MS = 30_000;
/** Requests for which the service connects to another server. A probe takes up to 45 seconds. */
const REMOTE_TIMEOUT_MS = 60_000;
const REMOTE = /\/(probe|test)$/;

client.setConfig({ baseUrl: API_BASE, credentials: 'same-origin', fetch: fetchUnlessUnchanged });

const cachedResponses = new ResponseCache();

/** Lists have weak entity tags. Strong ones belong to resources with revisions and to contents of files. */
const isWeak = (etag: string | null): etag is string => etag?.startsWith('W/') ?? false;
const jsonResponse = (body: string) =>
  new Response(body, { headers: { 'content-type': 'application/json; charset=utf-8' } });

/**
 * Sends the entity tag of the last response of a list. When the list has not changed, the service answers without a body
 * and the earlier body is returned.
 */
async function fetchUnlessUnchanged(input: string | URL | Request): Promise<Response> {
  const request = new Request(input);
  if (request.method !== 'GET') return fetchWithTimeout(request);
  const cached = cachedResponses.find(request.url);
  if (cached) request.headers.set('if-none-match', cached.etag);
  const response = await fetchWithTimeout(request);
  if (response.status === 304 && cached) return jsonResponse(cached.body);
  const etag = response.headers.get('etag');
  if (!response.ok || !isWeak(etag)) return response;
  const body = await response.text();
  cachedResponses.store(request.url, { etag, body });
  return jsonResponse(body);
}

/** The timeout ends when the response headers arrive. A response body (a large file) has no time limit. */
async function fetchWithTimeout(request: Request): Promise<Response> {
  const timeout = new AbortController();
  const limitMs = REMOTE.test(new URL(request.url).pathname) ? REMOTE_TIMEOUT_MS : RESPONSE_TIMEOUT_MS;
  const timer = setTimeout(() => timeout.abort(new DOMException('', 'TimeoutError')), limitMs);
  try {
    return await fetch(request, { signal: AbortSignal.any([request.signal, timeout.signal]) });
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Statuses that are worth a retry when the response has no error envelope: no response arrived (0), or a proxy in front of
 * the service sent it.
 */
const TRANSIENT_STATUSES = new Set([0, 429, 502, 503, 504]);

/** An error response of the service, with its message. `code` is UNREACHABLE when no response arrived. */
export class ApiError extends Error {
  readonly code: string;
  readonly status: number;
  readonly requestId: string | undefined;
  readonly retryable: boolean;
  /** Minimum delay before a retry, as requested by the service; undefined when the response names none. */
  readonly retryAfterMs: number | undefined;
  /** Validation errors of the request body, with a JSON Pointer to each invalid member. */
  readonly details: readonly { pointer: string; message: string }[];

  constructor(status: number, envelope: Partial<ErrorEnvelope> | undefined) {
    const error = envelope?.error;
    super(error?.user_message ?? envelope?.message ?? 'The service cannot be reached.');
    this.code = envelope?.code ?? 'UNREACHABLE';
    this.status = status;
    this.requestId = error?.request_id;
    this.retryable = error?.retryable ?? TRANSIENT_STATUSES.has(status);
    this.retryAfterMs = envelope?.data ? envelope.data.retry_after_seconds * 1_000 : undefined;
    this.details = error?.details ?? [];
  }
}

/** True for a 404: the resource does not exist, or the user has no access to it. */
export const isNotFound = (error: unknown) => error instanceof ApiError && error.status === 404;

/** The result of a function of the generated client. */
interface GeneratedResult<Body> {
  data?: Body | undefined;
  error?: unknown;
  response?: Response | undefined;
}

async function unwrapBody<Body>(result: Promise<GeneratedResult<Body>>): Promise<Body> {
  const { data, error, response } = await result;
  if (data !== undefined && response?.ok) return data;
  // The caller cancelled the request, so this is no error for the user.
  if (error instanceof DOMException && error.name === 'AbortError') throw error;
  if (error instanceof DOMException && error.name === 'TimeoutError')
    throw new ApiError(408, { code: 'NO_ANSWER', message: 'The service did not respond in time.' });
  throw new ApiError(response?.status ?? 0, isEnvelope(error) ? error : undefined);
}

/** A proxy between the browser and the service may send any other body. */
function isEnvelope(body: unknown): body is ErrorEnvelope {
  return typeof body === 'object' && body !== null && 'code' in body && 'error' in body;
}

/** Returns the `data` of a response. Throws an ApiError. */
export async function unwrapData<Data>(result: Promise<GeneratedResult<{ data: Data }>>): Promise<Data> {
  return (await unwrapBody(result)).data;
}

/** Returns a page of a list. Throws an ApiError. */
export async function unwrapPage<Item>(
  result: Promise<GeneratedResult<{ data: Item[]; page: Page }>>,
): Promise<ListPage<Item>> {
  const { data, page } = await unwrapBody(result);
  return { items: data, next: page.next_cursor ?? undefined };
}
