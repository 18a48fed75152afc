/** Why an outbound request failed. `address_refused` and `url_refused`: nothing was sent. */
export type OutboundProblem =
  | 'address_refused'
  | 'url_refused'
  | 'redirect_refused'
  | 'response_invalid'
  | 'timed_out'
  | 'tls_invalid'
  | 'too_large'
  | 'unreachable';

/** The message is for people and contains neither the path, the query nor a header of the request. */
export class OutboundError extends Error {
  readonly problem: OutboundProblem;
  /** Whether no connection was made, so that nothing was sent. */
  nothingSent = false;

  constructor(problem: OutboundProblem, message: string) {
    super(message);
    this.name = 'OutboundError';
    this.problem = problem;
  }
}
