import type { ErrorCode } from './error-codes.ts';

/*
 * Handlers throw `refuse(code, message)`. The refusal travels through the gRPC trailer to the edge, which writes it into the
 * response envelope.
 */

/** An invalid member of a request body (as a JSON Pointer) and the reason. */
export interface FieldProblem {
  pointer: string;
  message: string;
}

interface RefusalOptions {
  details?: FieldProblem[];
  retryAfterSeconds?: number;
  cause?: unknown;
}

/** An error with a code of the table. The client sees its message, so the message never contains a secret. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly details: FieldProblem[];
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: RefusalOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Refusal';
    this.code = code;
    this.details = options.details ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

export function refuse(code: ErrorCode, message: string, options?: RefusalOptions): Refusal {
  return new Refusal(code, message, options);
}

/** Returns an INVALID_REQUEST refusal for one member of the request body. */
export function refuseField(pointer: string, message: string): Refusal {
  return refuse('INVALID_REQUEST', `${pointer} ${message}`, { details: [{ pointer, message }] });
}

/**
 * Returns a refusal with other pointers, also at the beginning of its message. Services name the parts of their request,
 * and their callers know where these are in the request of the client. Any other error is returned unchanged.
 */
export function mapPointers(error: unknown, map: (pointer: string) => string): unknown {
  if (!(error instanceof Refusal) || error.details.length === 0) return error;
  const { code, message, details, retryAfterSeconds, cause } = error;
  const first = details[0]?.pointer ?? '';
  const text = message.startsWith(`${first} `) ? map(first) + message.slice(first.length) : message;
  const mapped = details.map((detail) => ({ ...detail, pointer: map(detail.pointer) }));
  return new Refusal(code, text, { details: mapped, ...(retryAfterSeconds && { retryAfterSeconds }), cause });
}

/** Whether an error is, or was caused by, a refusal for lack of space. */
export function isStorageFull(error: unknown): boolean {
  if (!(error instanceof Refusal)) return false;
  return error.code === 'STORAGE_FULL' || isStorageFull(error.cause);
}
