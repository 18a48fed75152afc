/** The embedded PostgreSQL cannot serve; the start screen lists it with its way out. */
export class PostgresProblem extends Error {
  override readonly name = 'PostgresProblem';
  /** The state that was expected, for people. */
  readonly expected: string;
  /** What the operator can do about it. */
  readonly fix: string;

  constructor(problem: string, expected: string, fix: string, cause?: unknown) {
    super(problem, { cause });
    this.expected = expected;
    this.fix = fix;
  }
}
