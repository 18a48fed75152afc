import { ProductError, type ProductErrorKind } from '../product-error.ts';

/** The members of the library's errors that decide. Names, routes and URLs can contain the token of an interaction. */
interface VendorError {
  status?: unknown;
  code?: unknown;
  retryAfter?: unknown;
  timeToReset?: unknown;
  cause?: unknown;
}

/** A refusal of the REST API (https://discord.com/developers/docs/topics/opcodes-and-status-codes#json). */
export interface DiscordRefusal {
  status: number;
  code: number;
}

export const UNKNOWN_CHANNEL = 10_003;
export const UNKNOWN_MESSAGE = 10_008;
export const UNKNOWN_WEBHOOK = 10_015;
export const CANNOT_MESSAGE_USER = 50_007;
export const MISSING_PERMISSIONS = 50_013;
export const INVALID_FORM = 50_035;
export const NO_THREADS_HERE = 50_024;
export const THREAD_ARCHIVED = 50_083;
/** The bot may not read the history of the channel, so it may not reply. */
export const CANNOT_REPLY = 160_002;
export const THREAD_EXISTS = 160_004;
export const TOO_MANY_THREADS = 160_006;

const REFUSALS: Readonly<Record<number, string>> = {
  [UNKNOWN_CHANNEL]: 'The channel or thread does not exist any more.',
  [UNKNOWN_MESSAGE]: 'The message does not exist any more.',
  10004: 'The server does not exist any more, or the bot is not on it.',
  10013: 'The user does not exist any more.',
  [UNKNOWN_WEBHOOK]: 'The command or click is too old to be answered.',
  10062: 'The command or click is too old to be answered.',
  30033: 'The thread has too many members.',
  40005: 'The file is too large for this server.',
  50001: 'The bot lacks the permission View Channel.',
  50005: 'The message is not one of the bot.',
  50006: 'Discord takes no empty messages.',
  [CANNOT_MESSAGE_USER]: 'The person takes no direct messages from the bot.',
  [NO_THREADS_HERE]: 'Threads are not possible in this kind of channel.',
  50027: 'The command or click is too old to be answered.',
  [INVALID_FORM]: 'Discord refuses the form of the request.',
  [THREAD_ARCHIVED]: 'The thread is archived.',
  160005: 'The thread is locked.',
  [TOO_MANY_THREADS]: 'The server has too many active threads.',
};

const TOKEN_REFUSED =
  'Discord refuses the token of the bot. Reset it under Bot in the developer portal, and set the new one.';
const DEFAULT_RETRY_MS = 5_000;
const TOO_LARGE = 413;

/** Nothing was sent. */
const NOT_SENT = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
]);

/** Maps an error of @discordjs/rest. `permission`: the name of the permission that the request needs. */
export function toProductError(error: unknown, permission = 'that it needs here'): ProductError {
  if (error instanceof ProductError) return error;
  const vendor: VendorError = typeof error === 'object' && error !== null ? error : {};
  if (typeof vendor.timeToReset === 'number') return rateLimited(Number(vendor.retryAfter));
  const refusal = refusalOf(error);
  return refusal ? refusalError(refusal, permission) : connectionError(error);
}

/** Undefined for an error that is no response. */
export function refusalOf(error: unknown): DiscordRefusal | undefined {
  const { status, code }: VendorError = typeof error === 'object' && error !== null ? error : {};
  return typeof status === 'number' ? { status, code: Number(code ?? 0) } : undefined;
}

export function rateLimited(milliseconds: number): ProductError {
  const retryAfterMs = Number.isFinite(milliseconds) && milliseconds >= 0 ? milliseconds : DEFAULT_RETRY_MS;
  return new ProductError('rate_limited', 'Discord limits the rate of requests.', { retryAfterMs });
}

export function tokenRefused(): ProductError {
  return new ProductError('unauthorized', TOKEN_REFUSED);
}

export function connectionError(error: unknown): ProductError {
  const code = codesOf(error).find((one) => NOT_SENT.has(one));
  if (code !== undefined) return new ProductError('unavailable', `Discord cannot be reached (${code}).`);
  return new ProductError('ambiguous', 'The connection to Discord ended without an answer.');
}

export function refusalError({ status, code }: DiscordRefusal, permission: string): ProductError {
  if (status === 401) return tokenRefused();
  if (status === 429) return rateLimited(Number.NaN);
  if (status >= 500) return new ProductError('unavailable', `Discord answered with status ${status}.`);
  if (code === MISSING_PERMISSIONS)
    return new ProductError('refused', `The bot lacks the permission ${permission}.`);
  const kind: ProductErrorKind = code === UNKNOWN_MESSAGE ? 'missing' : 'refused';
  const known = REFUSALS[status === TOO_LARGE ? 40_005 : code];
  return new ProductError(kind, known ?? `Discord refuses the request (status ${status}, code ${code}).`);
}

/** The codes of an error and its causes. */
function codesOf(error: unknown, depth = 0): string[] {
  if (typeof error !== 'object' || error === null || depth > 5) return [];
  const { code, cause }: VendorError = error;
  return [String(code ?? ''), ...codesOf(cause, depth + 1)];
}
