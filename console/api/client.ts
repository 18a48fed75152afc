import { client } from '../gen/client.gen.ts';
import type { ErrorEnvelope, Page } from '../gen/index.ts';
import type { ListPage } from './pages.ts';

export const API = '/api/v1';

/** Longer than the service itself waits for anything: whoever asks is told, and can do something else. */
const ANSWER_MS = 30_000;

client.setConfig({ baseUrl: API, credentials: 'same-origin', fetch: fetchInTime });

/** Only until an answer begins: how long a file takes is nobody's fault. */
async function fetchInTime(asked: RequestInfo | URL): Promise<Response> {
  const request = new Request(asked);
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(new DOMException('', 'TimeoutError')), ANSWER_MS);
  try {
    return await fetch(request, { signal: AbortSignal.any([request.signal, waiting.signal]) });
  } finally {
    clearTimeout(timer);
  }
}

/** What passes by itself when it is no word of the service: nobody has answered, or only a proxy in front of it. */
const PASSING = new Set([0, 429, 502, 503, 504]);

/** A refusal of the service, in its own words. `code` is UNREACHABLE when nothing has answered. */
export class ApiError extends Error {
  readonly code: string;
  readonly status: number;
  readonly requestId: string | undefined;
  readonly retryable: boolean;
  /** How long the service wants to be left alone before it is asked again; undefined when it has not said. */
  readonly retryAfterMs: number | undefined;
  /** What is wrong with which member of a refused body. */
  readonly details: readonly { pointer: string; message: string }[];

  constructor(status: number, envelope: Partial<ErrorEnvelope> | undefined) {
    const error = envelope?.error;
    super(error?.user_message ?? envelope?.message ?? 'The service cannot be reached.');
    this.code = envelope?.code ?? 'UNREACHABLE';
    this.status = status;
    this.requestId = error?.request_id;
    this.retryable = error?.retryable ?? PASSING.has(status);
    this.retryAfterMs = envelope?.data ? envelope.data.retry_after_seconds * 1_000 : undefined;
    this.details = error?.details ?? [];
  }
}

/** Whether what was asked for is not there, or not there for who asks. */
export const isMissing = (error: unknown) => error instanceof ApiError && error.status === 404;

/** What a function of the generated client resolves to. */
interface Answer<Body> {
  data?: Body | undefined;
  error?: unknown;
  response?: Response | undefined;
}

async function settle<Body>(asked: Promise<Answer<Body>>): Promise<Body> {
  const { data, error, response } = await asked;
  if (data !== undefined && response?.ok) return data;
  // Left on purpose: nobody wants to hear of it.
  if (error instanceof DOMException && error.name === 'AbortError') throw error;
  if (error instanceof DOMException && error.name === 'TimeoutError')
    throw new ApiError(408, { code: 'NO_ANSWER', message: 'The service does not answer.' });
  throw new ApiError(response?.status ?? 0, isEnvelope(error) ? error : undefined);
}

/** A proxy in between may answer with anything else. */
function isEnvelope(answer: unknown): answer is ErrorEnvelope {
  return typeof answer === 'object' && answer !== null && 'code' in answer && 'error' in answer;
}

/** The `data` of an answer. Fails with an ApiError. */
export async function ask<Data>(asked: Promise<Answer<{ data: Data }>>): Promise<Data> {
  return (await settle(asked)).data;
}

/** A page of a list. Fails with an ApiError. */
export async function askPage<Item>(
  asked: Promise<Answer<{ data: Item[]; page: Page }>>,
): Promise<ListPage<Item>> {
  const { data, page } = await settle(asked);
  return { items: data, next: page.next_cursor ?? undefined };
}
