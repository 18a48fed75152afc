import { OutboundError, type OutboundProblem } from '../outbound/outbound-error.ts';

export type McpProblem =
  | 'address_refused'
  | 'redirected'
  | 'unreachable'
  | 'timed_out'
  | 'tls_invalid'
  | 'too_large'
  | 'unauthorized'
  | 'invalid_response';

/** A failed exchange with an MCP server. The message is for people and contains no text of the server. */
export class McpError extends Error {
  readonly problem: McpProblem;
  /** The HTTP status of the last response. Undefined without one. */
  httpStatus: number | undefined;
  /** The header WWW-Authenticate of a last response with status 401 or 403, at most 4 KiB. Empty without one. */
  challenge = '';
  /** Whether the server has ignored the request, because it does not know the session any more. */
  isSessionLost = false;
  /** Whether no connection was made, so that nothing was sent. */
  nothingSent = false;

  constructor(problem: McpProblem, message: string) {
    super(message);
    this.name = 'McpError';
    this.problem = problem;
  }

  /** Whether the server accepts the credential and asks for more scopes (RFC 6750, section 3.1). */
  get needsScopes(): boolean {
    return this.httpStatus === 403 && /\berror\s*=\s*"?insufficient_scope\b/i.test(this.challenge);
  }
}

const PROBLEMS: Record<OutboundProblem, McpProblem> = {
  address_refused: 'address_refused',
  url_refused: 'address_refused',
  redirect_refused: 'redirected',
  response_invalid: 'invalid_response',
  timed_out: 'timed_out',
  tls_invalid: 'tls_invalid',
  too_large: 'too_large',
  unreachable: 'unreachable',
};

/** Returns an McpError for a failed request; undefined for another value. */
export function errorOfRequest(failure: unknown): McpError | undefined {
  if (failure instanceof McpError) return failure;
  if (failure instanceof OutboundError) {
    const error = new McpError(PROBLEMS[failure.problem], failure.message);
    error.nothingSent = failure.nothingSent;
    return error;
  }
  return undefined;
}
