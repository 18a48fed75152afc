/** The embedded PostgreSQL cannot start. The start-up error screen shows the message and the fix. */
export class PostgresProblem extends Error {
  override readonly name = 'PostgresProblem';
  /** Describes the expected state to the operator. */
  readonly expected: string;
  /** How the operator can fix it. */
  readonly fix: string;

  constructor(problem: string, expected: string, fix: string, cause?: unknown) {
    super(problem, { cause });
    this.expected = expected;
    this.fix = fix;
  }
}
