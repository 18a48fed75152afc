import { APICallError } from '@ai-sdk/provider';

/** How a provider refuses a request, with its answer or in the middle of one. */
export interface Reply {
  status: number;
  /** As the provider says it. */
  words: string;
  /** Waiting does not help: the account has nothing left. */
  isSpent: boolean;
  mayPass: boolean;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * What a provider says is wrong. In the middle of a stream there is no status: some providers of the library add one,
 * others hand on what the wire holds, `{message, type?, code?}`. Undefined for what is no reply at all.
 */
export function replyOf(error: unknown): Reply | undefined {
  if (APICallError.isInstance(error)) {
    const { statusCode: status = 500, message: words, data, isRetryable } = error;
    const kind = kindOf(membersOf(data)?.error ?? data);
    return { status, words, isSpent: SPENT.test(kind), mayPass: isRetryable && !TOO_LONG.test(kind) };
  }
  if (error instanceof Error) return undefined;
  const said = membersOf(error);
  if (typeof said?.message !== 'string') return undefined;
  const kind = kindOf(said);
  const status = httpStatus(said.statusCode) ?? httpStatus(said.code) ?? statusOf(kind);
  return { status, words: said.message, isSpent: SPENT.test(kind), mayPass: isPassing(status) };
}

const SPENT = /insufficientquota|billing|payment/;
const TOO_LONG = /contextlength/;

/** The names that providers give to errors, whichever way they write them. */
const KINDS: readonly (readonly [kinds: RegExp, status: number])[] = [
  [/ratelimit|toomanyrequests/, 429],
  [/authentication|unauthorized|apikey/, 401],
  [/permission|forbidden/, 403],
  [/invalid|badrequest|contextlength|notfound|contentpolicy/, 400],
];

function statusOf(kind: string): number {
  return KINDS.find(([kinds]) => kinds.test(kind))?.[1] ?? 500;
}

/** `RateLimitError`, `rate_limit_error` and `rate-limit` are all the same. */
function kindOf(error: unknown): string {
  const { code, type } = membersOf(error) ?? {};
  return `${code} ${type}`.toLowerCase().replace(/[^a-z ]/g, '');
}

function httpStatus(value: unknown): number | undefined {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof status === 'number' && status >= 400 && status <= 599 ? status : undefined;
}

function isPassing(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

function membersOf(value: unknown): Members | undefined {
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}
