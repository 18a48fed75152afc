/**
 * Every way the service can refuse, in one table. Handlers throw `refuse(code, message)`; the value
 * travels through the gRPC trailer to the edge, which writes it into the envelope. The reference page
 * of errors is generated from this table.
 */

export type Category = 'request' | 'auth' | 'state' | 'limit' | 'dependency' | 'internal';
export type Owner = 'client' | 'operator' | 'platform' | 'provider';

interface ErrorKind {
  /** HTTP status. */
  status: number;
  category: Category;
  /** Whether the same request can succeed later without anybody changing anything. */
  retryable: boolean;
  /** Who must act. */
  owner: Owner;
  /** One sentence for the reference page. */
  about: string;
}

const kind = (
  status: number,
  category: Category,
  owner: Owner,
  about: string,
  retryable = false,
): ErrorKind => ({
  status,
  category,
  retryable,
  owner,
  about,
});
const again = true;

export const ERRORS = {
  INVALID_REQUEST: kind(
    400,
    'request',
    'client',
    'The request does not have the documented form; details name each member.',
  ),
  INVALID_TEXT: kind(400, 'request', 'client', 'A text holds a NUL character or a lone surrogate.'),
  INVALID_CURSOR: kind(
    400,
    'request',
    'client',
    'The cursor belongs to another list, other filters or another caller, or lies beyond the end.',
  ),
  UNAUTHENTICATED: kind(401, 'auth', 'client', 'The request carries no valid identity.'),
  TOKEN_EXPIRED: kind(401, 'auth', 'client', 'The token was valid, and is not any more: get a new one.'),
  DEPLOYMENT_UNAUTHORIZED: kind(
    401,
    'auth',
    'client',
    'The webhook timestamp or signature is missing, stale or invalid.',
  ),
  FORBIDDEN: kind(403, 'auth', 'client', 'The caller may see this, but not do it.'),
  SCOPE_INSUFFICIENT: kind(403, 'auth', 'client', 'The token was not made for this; a scope is missing.'),
  LOGIN_FAILED: kind(403, 'auth', 'client', 'The login could not be finished; begin again.'),
  CSRF_REJECTED: kind(403, 'auth', 'client', 'The request comes from another web site.'),
  HOST_NOT_ALLOWED: kind(
    403,
    'auth',
    'client',
    'The Host header names a host this service does not answer for.',
  ),
  ROUTE_NOT_FOUND: kind(404, 'request', 'client', 'There is no such path.'),
  AGENT_NOT_FOUND: kind(404, 'request', 'client', 'There is no such agent, or it is not yours.'),
  AGENT_VERSION_NOT_FOUND: kind(404, 'request', 'client', 'The agent has no such version.'),
  SESSION_NOT_FOUND: kind(404, 'request', 'client', 'There is no such session, or it is not yours.'),
  TURN_NOT_FOUND: kind(404, 'request', 'client', 'The session has no such turn.'),
  APPROVAL_NOT_FOUND: kind(404, 'request', 'client', 'The session has no such approval.'),
  ASSISTANT_NOT_FOUND: kind(404, 'request', 'client', 'There is no such assistant, or it is not yours.'),
  ENVIRONMENT_NOT_FOUND: kind(404, 'request', 'client', 'There is no such environment.'),
  SANDBOX_NOT_FOUND: kind(404, 'request', 'client', 'There is no such sandbox.'),
  FILE_NOT_FOUND: kind(404, 'request', 'client', 'There is no such file or directory in the workspace.'),
  DEPLOYMENT_NOT_FOUND: kind(
    404,
    'request',
    'client',
    'There is no such deployment, it is not yours, or it is disabled.',
  ),
  TOKEN_NOT_FOUND: kind(404, 'request', 'client', 'There is no such token, or it is not yours.'),
  USER_NOT_FOUND: kind(404, 'request', 'client', 'There is no such user.'),
  METHOD_NOT_ALLOWED: kind(
    405,
    'request',
    'client',
    'The path exists, but not with this method; Allow lists those it has.',
  ),
  REQUEST_TIMEOUT: kind(408, 'request', 'client', 'The request did not arrive in time.', again),
  SESSION_BUSY: kind(
    409,
    'state',
    'client',
    'The session is working and the message asked not to wait.',
    again,
  ),
  SESSION_TERMINATED: kind(409, 'state', 'client', 'The session has ended for good.'),
  SESSION_ARCHIVED: kind(409, 'state', 'client', 'The session is archived and can only be read.'),
  APPROVAL_ALREADY_DECIDED: kind(
    409,
    'state',
    'client',
    'The approval was decided otherwise, has expired, or its turn has ended.',
  ),
  LOGIN_NOT_AVAILABLE: kind(409, 'state', 'operator', 'In local mode nobody logs in.'),
  NAME_TAKEN: kind(409, 'state', 'client', 'Something of that name is there already.'),
  RESOURCE_IN_USE: kind(409, 'state', 'client', 'Something else still needs this.'),
  ENVIRONMENT_DISABLED: kind(409, 'state', 'operator', 'The environment is disabled.'),
  AGENT_NOT_RUNNABLE: kind(409, 'state', 'operator', 'The agent or assistant is disabled.'),
  DEPLOYMENT_CANNOT_START: kind(
    409,
    'state',
    'operator',
    "The trigger's agent, its environment or the owner is deleted or disabled.",
  ),
  DEPLOYMENT_IMMUTABLE: kind(409, 'state', 'client', 'A webhook cannot be changed; create a replacement.'),
  IDEMPOTENCY_KEY_CONFLICT: kind(409, 'state', 'client', 'The Idempotency-Key was used for another request.'),
  IDEMPOTENCY_KEY_IN_USE: kind(
    409,
    'state',
    'client',
    'A request with this Idempotency-Key is still under way.',
    again,
  ),
  LEASE_LOST: kind(409, 'state', 'platform', 'Another runner holds this turn now.'),
  CURSOR_EXPIRED: kind(410, 'state', 'client', 'What lies at that place is not kept any more; begin again.'),
  VERSION_CONFLICT: kind(412, 'state', 'client', 'The resource has changed since the version in If-Match.'),
  PAYLOAD_TOO_LARGE: kind(413, 'limit', 'client', 'The request body is larger than this route takes.'),
  FILE_TOO_LARGE: kind(
    413,
    'limit',
    'client',
    'The file, or the archive, is larger than this route takes or gives.',
  ),
  RANGE_NOT_SATISFIABLE: kind(416, 'request', 'client', 'The file has no byte in that range.'),
  URI_TOO_LONG: kind(414, 'limit', 'client', 'The request target or a part of it is too long.'),
  UNSUPPORTED_MEDIA_TYPE: kind(415, 'request', 'client', 'The Content-Type is not one this route takes.'),
  HEADERS_TOO_LARGE: kind(431, 'limit', 'client', 'The request headers are too large.'),
  CANCELLED: kind(499, 'request', 'client', 'The caller left before the answer.'),
  INTERNAL: kind(
    500,
    'internal',
    'platform',
    'An unexpected failure; the request id finds its log line and trace.',
  ),
  CONTENT_DAMAGED: kind(
    500,
    'internal',
    'operator',
    'The stored bytes of a file are missing, or not those that were written.',
  ),
  QUOTA_EXCEEDED: kind(
    429,
    'limit',
    'client',
    'The workspace, or all that is kept for its owner, would be more than it may; or there were enough turns today.',
    again,
  ),
  RATE_LIMITED: kind(429, 'limit', 'client', 'Too many requests; wait as long as Retry-After says.', again),
  DEPENDENCY_UNAVAILABLE: kind(
    503,
    'dependency',
    'platform',
    'A part of the service cannot be reached at the moment.',
    again,
  ),
  SANDBOX_UNAVAILABLE: kind(
    503,
    'dependency',
    'platform',
    'No sandbox can be had for this environment at the moment.',
    again,
  ),
  PEER_REJECTED: kind(
    503,
    'dependency',
    'operator',
    'One part of the service does not believe another: SERVICE_SECRET or the clocks of their machines differ.',
    again,
  ),
  DEADLINE_EXCEEDED: kind(
    504,
    'dependency',
    'platform',
    'The answer took too long; the work may still have been done.',
    again,
  ),
  STORAGE_FULL: kind(507, 'dependency', 'operator', 'There is no space left to store this.', again),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

/** Which member of a request body was refused (JSON Pointer) and why. */
export interface FieldProblem {
  pointer: string;
  message: string;
}

export interface RefusalOptions {
  details?: FieldProblem[];
  retryAfterSeconds?: number;
  cause?: unknown;
}

/** A refusal with a name. Its message is shown to the client, so it never holds a secret. */
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

/** A 400 that names one member of the request body. */
export function refuseField(pointer: string, message: string): Refusal {
  return refuse('INVALID_REQUEST', `${pointer} ${message}`, { details: [{ pointer, message }] });
}

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}
