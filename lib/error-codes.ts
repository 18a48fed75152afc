/** The table of all error codes. The reference page of errors is generated from it. */

export type Category = 'request' | 'auth' | 'state' | 'limit' | 'dependency' | 'internal';
type ErrorOwner = 'client' | 'operator' | 'platform' | 'provider';

interface ErrorKind {
  /** HTTP status. */
  status: number;
  category: Category;
  /** Whether the same request can succeed later without a change by the client or operator. */
  retryable: boolean;
  /** The party that must act. */
  owner: ErrorOwner;
  /** One sentence for the reference page. */
  about: string;
}

const kind = (
  status: number,
  category: Category,
  owner: ErrorOwner,
  about: string,
  retryable = false,
): ErrorKind => ({
  status,
  category,
  retryable,
  owner,
  about,
});
const RETRYABLE = true;

export const ERRORS = {
  INVALID_REQUEST: kind(
    400,
    'request',
    'client',
    'The request does not have the documented form. The details name each invalid member.',
  ),
  INVALID_TEXT: kind(400, 'request', 'client', 'A text contains a NUL character or a lone surrogate.'),
  CONTENT_NOT_SUPPORTED: kind(
    400,
    'request',
    'client',
    'The model does not accept parts of this media type. Choose another model, or send the content as text.',
  ),
  INVALID_CURSOR: kind(
    400,
    'request',
    'client',
    'The cursor belongs to another list, other filters or another caller, or lies beyond the end.',
  ),
  SKILL_INVALID: kind(
    400,
    'request',
    'client',
    'The archive is no valid skill. The pointer of the detail is the path in the archive; empty for the whole archive.',
  ),
  INVALID_SCHEDULE: kind(
    400,
    'request',
    'client',
    'The schedule or a range of its times is not valid. The details name each invalid member.',
  ),
  BACKFILL_TOO_LARGE: kind(
    400,
    'request',
    'client',
    'The range has more than 1,000 scheduled times. Split it into several backfills.',
  ),
  PINNED_LIMIT_EXCEEDED: kind(
    400,
    'request',
    'client',
    'The session would have more than 8 pinned messages, or more than 16 KiB of them. Send the message without pinned.',
  ),
  UNAUTHENTICATED: kind(401, 'auth', 'client', 'The request has no valid credentials.'),
  TOKEN_EXPIRED: kind(401, 'auth', 'client', 'The token has expired. Get a new one.'),
  DEPLOYMENT_UNAUTHORIZED: kind(
    401,
    'auth',
    'client',
    'The webhook timestamp or signature is missing, stale or invalid.',
  ),
  FORBIDDEN: kind(403, 'auth', 'client', 'The caller may see the resource but not perform this operation.'),
  SCOPE_INSUFFICIENT: kind(403, 'auth', 'client', 'The token lacks the scope that this operation requires.'),
  OVERRIDE_NOT_ALLOWED: kind(
    403,
    'auth',
    'client',
    'The agent does not allow overriding this setting. Its `overridable` lists the settings that may be overridden.',
  ),
  LOGIN_FAILED: kind(403, 'auth', 'client', 'The login failed. Start it again.'),
  CONNECTION_REFUSED: kind(
    403,
    'auth',
    'client',
    'The authorization was refused, or its answer is not that of an attempt of this user and browser. Begin it again.',
  ),
  CSRF_REJECTED: kind(403, 'auth', 'client', 'The request comes from another web site.'),
  HOST_NOT_ALLOWED: kind(
    403,
    'auth',
    'client',
    'The Host header names a host that this service does not serve.',
  ),
  ROUTE_NOT_FOUND: kind(404, 'request', 'client', 'The path does not exist.'),
  AGENT_NOT_FOUND: kind(
    404,
    'request',
    'client',
    'The agent does not exist or the caller has no access to it.',
  ),
  AGENT_VERSION_NOT_FOUND: kind(404, 'request', 'client', 'The agent has no such version.'),
  SESSION_NOT_FOUND: kind(
    404,
    'request',
    'client',
    'The session does not exist or the caller has no access to it.',
  ),
  TURN_NOT_FOUND: kind(404, 'request', 'client', 'The session has no such turn.'),
  APPROVAL_NOT_FOUND: kind(404, 'request', 'client', 'The session has no such approval.'),
  TOOL_CALL_NOT_FOUND: kind(
    404,
    'request',
    'client',
    'The session has no such call of a client tool or of `ask_user`.',
  ),
  ASSISTANT_NOT_FOUND: kind(
    404,
    'request',
    'client',
    'The assistant does not exist or the caller has no access to it.',
  ),
  ENVIRONMENT_NOT_FOUND: kind(404, 'request', 'client', 'The environment does not exist.'),
  SANDBOX_NOT_FOUND: kind(404, 'request', 'client', 'The sandbox does not exist.'),
  FILE_NOT_FOUND: kind(404, 'request', 'client', 'The workspace has no such file or directory.'),
  UPLOAD_NOT_FOUND: kind(
    404,
    'request',
    'client',
    'The upload does not exist, has expired, or belongs to another user.',
  ),
  PART_NOT_FOUND: kind(404, 'request', 'client', 'No message of the session has a part with this SHA-256.'),
  DEPLOYMENT_NOT_FOUND: kind(
    404,
    'request',
    'client',
    'The deployment does not exist, is disabled, or the caller has no access to it.',
  ),
  RUN_NOT_FOUND: kind(404, 'request', 'client', 'The schedule has no such run.'),
  BACKFILL_NOT_FOUND: kind(404, 'request', 'client', 'The schedule has no such backfill.'),
  DELIVERY_NOT_FOUND: kind(404, 'request', 'client', 'The channel has no such delivery.'),
  POST_NOT_FOUND: kind(404, 'request', 'client', 'The channel has no such post.'),
  LINK_NOT_FOUND: kind(
    404,
    'request',
    'client',
    'The link or link code does not exist, was used, has expired, or belongs to another account.',
  ),
  TOKEN_NOT_FOUND: kind(
    404,
    'request',
    'client',
    'The token does not exist or the caller has no access to it.',
  ),
  USER_NOT_FOUND: kind(404, 'request', 'client', 'The user does not exist.'),
  VAULT_NOT_FOUND: kind(404, 'request', 'client', 'The vault does not exist.'),
  CREDENTIAL_NOT_FOUND: kind(404, 'request', 'client', 'The vault has no such credential.'),
  CONNECTION_NOT_FOUND: kind(404, 'request', 'client', 'You have no such connection.'),
  ROTATION_NOT_FOUND: kind(404, 'request', 'client', 'The rotation does not exist.'),
  MCP_SERVER_NOT_FOUND: kind(
    404,
    'request',
    'client',
    'The MCP server does not exist, or you cannot add it.',
  ),
  SKILL_NOT_FOUND: kind(404, 'request', 'client', 'The skill does not exist.'),
  SKILL_VERSION_NOT_FOUND: kind(404, 'request', 'client', 'The skill has no such version.'),
  METHOD_NOT_ALLOWED: kind(
    405,
    'request',
    'client',
    'The path does not support this method. The Allow header lists the supported methods.',
  ),
  REQUEST_TIMEOUT: kind(408, 'request', 'client', 'The request did not arrive in time.', RETRYABLE),
  SESSION_BUSY: kind(
    409,
    'state',
    'client',
    'The session has a running turn and the request refuses to wait for it.',
    RETRYABLE,
  ),
  SESSION_TERMINATED: kind(409, 'state', 'client', 'The session is terminated and accepts no more work.'),
  SESSION_ARCHIVED: kind(409, 'state', 'client', 'The session is archived and read-only.'),
  APPROVAL_ALREADY_DECIDED: kind(
    409,
    'state',
    'client',
    'The approval already has another decision, has expired, or its turn has ended.',
  ),
  COMPACTION_DISABLED: kind(
    409,
    'state',
    'client',
    'The context strategy of the agent is `none`, so its history is never shortened.',
  ),
  TURN_NOT_LAST: kind(
    409,
    'state',
    'client',
    'Only the last answer of a session can be regenerated. For an earlier one, fork the session.',
  ),
  TOOL_RESULT_CONFLICT: kind(409, 'state', 'client', 'The tool call already has another result.'),
  TOOL_CALL_CLOSED: kind(
    409,
    'state',
    'client',
    'The tool call has expired, or its turn was interrupted or has ended.',
  ),
  TURN_NOT_QUEUED: kind(
    409,
    'state',
    'client',
    'The turn has started or ended, so it cannot be removed from the queue.',
  ),
  LOGIN_NOT_AVAILABLE: kind(409, 'state', 'operator', 'Local mode has no login.'),
  NAME_TAKEN: kind(409, 'state', 'client', 'Another resource already has this name.'),
  RESOURCE_IN_USE: kind(409, 'state', 'client', 'Another resource still uses this one.'),
  CATALOGUE_CHANGED: kind(
    409,
    'state',
    'client',
    'The MCP server has another catalogue than the reviewed one. Review the catalogue that was seen last.',
  ),
  CATALOGUE_UNREVIEWED: kind(
    409,
    'state',
    'client',
    'The catalogue of the MCP server has not been reviewed, or not been seen.',
  ),
  OAUTH_CLIENT_REQUIRED: kind(
    409,
    'state',
    'operator',
    'The authorization server needs a client that an administrator registers there and sets for the MCP server.',
  ),
  ENVIRONMENT_DISABLED: kind(409, 'state', 'operator', 'The environment is disabled.'),
  AGENT_NOT_RUNNABLE: kind(409, 'state', 'operator', 'The agent or assistant is disabled.'),
  DEPLOYMENT_CANNOT_START: kind(
    409,
    'state',
    'operator',
    "The trigger's agent, its environment or its owner is deleted or disabled.",
  ),
  DEPLOYMENT_IMMUTABLE: kind(
    409,
    'state',
    'client',
    'A webhook cannot be changed, nor the type of a deployment. Create a replacement.',
  ),
  NOT_A_SCHEDULE: kind(409, 'state', 'client', 'The deployment is of another type than `schedule`.'),
  NOT_A_CHANNEL: kind(409, 'state', 'client', 'The deployment is of another type than `channel`.'),
  CHANNEL_NOT_CONNECTED: kind(
    409,
    'state',
    'client',
    'The channel is disabled or not connected with its product. The connection of the channel shows the reason.',
  ),
  IDEMPOTENCY_KEY_CONFLICT: kind(
    409,
    'state',
    'client',
    'The Idempotency-Key was already used for a different request.',
  ),
  IDEMPOTENCY_KEY_IN_USE: kind(
    409,
    'state',
    'client',
    'A request with this Idempotency-Key is still in progress.',
    RETRYABLE,
  ),
  LEASE_LOST: kind(409, 'state', 'platform', 'Another runner or channel worker holds the lease.'),
  CURSOR_EXPIRED: kind(
    410,
    'state',
    'client',
    'The items at this cursor are deleted. Start again from the first page.',
  ),
  VERSION_CONFLICT: kind(412, 'state', 'client', 'The resource has changed since the version in If-Match.'),
  PAYLOAD_TOO_LARGE: kind(413, 'limit', 'client', 'The request body exceeds the limit of this route.'),
  FILE_TOO_LARGE: kind(413, 'limit', 'client', 'The file or archive exceeds the size limit of this route.'),
  RANGE_NOT_SATISFIABLE: kind(416, 'request', 'client', 'The file has no byte in the requested range.'),
  URI_TOO_LONG: kind(414, 'limit', 'client', 'The request target or a part of it is too long.'),
  UNSUPPORTED_MEDIA_TYPE: kind(415, 'request', 'client', 'The route does not accept this Content-Type.'),
  NOT_IMPLEMENTED: kind(
    501,
    'request',
    'client',
    'The service does not implement the method CONNECT, nor a transfer coding other than `chunked`.',
  ),
  HTTP_VERSION_NOT_SUPPORTED: kind(
    505,
    'request',
    'client',
    'The version in the request line is neither HTTP/1.0 nor HTTP/1.1.',
  ),
  HEADERS_TOO_LARGE: kind(431, 'limit', 'client', 'The request headers are too large.'),
  CANCELLED: kind(499, 'request', 'client', 'The client disconnected before the response.'),
  INTERNAL: kind(
    500,
    'internal',
    'platform',
    'An unexpected failure. Use the request id to find its log line and trace.',
  ),
  CONTENT_DAMAGED: kind(
    500,
    'internal',
    'operator',
    'The stored bytes of a file are missing or differ from the bytes that were written.',
  ),
  QUOTA_EXCEEDED: kind(
    429,
    'limit',
    'client',
    "The request would exceed the storage limit of the workspace or its owner, or today's turn limit is reached.",
    RETRYABLE,
  ),
  RATE_LIMITED: kind(
    429,
    'limit',
    'client',
    'Too many requests. Wait for the time in Retry-After.',
    RETRYABLE,
  ),
  MCP_SERVER_UNREACHABLE: kind(
    502,
    'dependency',
    'client',
    'The MCP server or its authorization server cannot be reached, or its answer is not valid.',
  ),
  DEPENDENCY_UNAVAILABLE: kind(
    503,
    'dependency',
    'platform',
    'A part of the service is temporarily unavailable.',
    RETRYABLE,
  ),
  CHANNEL_NOT_READY: kind(
    503,
    'dependency',
    'operator',
    'No channel worker has asked the product for the bot of the channel yet, so events cannot be checked. The connection of the channel shows the reason.',
    RETRYABLE,
  ),
  SANDBOX_UNAVAILABLE: kind(
    503,
    'dependency',
    'platform',
    'No sandbox is available for this environment now.',
    RETRYABLE,
  ),
  PEER_REJECTED: kind(
    503,
    'dependency',
    'operator',
    'One part of the service rejects the token of another: SERVICE_SECRET or the clocks of the machines differ.',
    RETRYABLE,
  ),
  VAULT_SEALED: kind(
    503,
    'dependency',
    'operator',
    'The key of the vault, or the secret of the credential, cannot be opened now. Other vaults are not affected.',
    RETRYABLE,
  ),
  DEADLINE_EXCEEDED: kind(
    504,
    'dependency',
    'platform',
    'The response took too long. The operation may still have been performed.',
    RETRYABLE,
  ),
  STORAGE_FULL: kind(507, 'dependency', 'operator', 'The storage has no space left.', RETRYABLE),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}
