import { Refusal, refuse } from '../errors.ts';

/** SQLSTATEs (https://www.postgresql.org/docs/18/errcodes-appendix.html) that another try may get past. */
const TRANSIENT = new Set(['40001', '40P01']);

export function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

export function isTransient(error: unknown): boolean {
  return TRANSIENT.has(sqlState(error) ?? '');
}

/** Gives the failures of a database their names. What has no name here stays what it is, and ends as INTERNAL. */
export function asRefusal(error: unknown, signal?: AbortSignal): unknown {
  if (error instanceof Refusal) return error;
  const state = sqlState(error) ?? '';
  if (state === '57014') {
    return signal?.aborted
      ? refuse('CANCELLED', 'the caller left before the answer')
      : refuse('DEADLINE_EXCEEDED', 'the database took too long', { cause: error });
  }
  if (state === '53100')
    return refuse('STORAGE_FULL', 'there is no space left in the database', { cause: error });
  if (state === '22021' || state === '22P05' || state === '22P02') {
    return refuse('INVALID_TEXT', 'a text holds a character that cannot be stored', { cause: error });
  }
  if (isUnreachable(error)) {
    return refuse('DEPENDENCY_UNAVAILABLE', 'the database cannot be reached', {
      retryAfterSeconds: 1,
      cause: error,
    });
  }
  return error;
}

const SOCKET = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** Whether the connection is of no use any more, or there never was one. */
export function isUnreachable(error: unknown): boolean {
  const state = sqlState(error) ?? '';
  if (/^(08|28|57P|53300|25P03)/.test(state) || SOCKET.has(state)) return true;
  return (
    error instanceof Error &&
    /Connection terminated|timeout exceeded when trying to connect|not queryable/.test(error.message)
  );
}
