/**
 * Why an issuer gave no token. `invalid_grant`: the grant has ended. `refused`: the issuer refuses the request or the client.
 * `unavailable`: a later attempt may succeed.
 */
type TokenProblem = 'invalid_grant' | 'refused' | 'unavailable';

/** The message is for people and contains neither a secret nor a text of the issuer. */
export class TokenError extends Error {
  readonly problem: TokenProblem;

  constructor(problem: TokenProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TokenError';
    this.problem = problem;
  }
}
