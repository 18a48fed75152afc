/** A refusal of the Web API. The response has status 200 and `{ok: false, error}`. */
export class SlackError extends Error {
  readonly code: string;
  /** Further members of the response. */
  readonly members: Record<string, unknown>;

  constructor(code: string, members: Record<string, unknown> = {}) {
    super(code);
    this.code = code;
    this.members = members;
  }
}

/** A refusal of an argument, with the messages that name its place. */
export function invalid(code: string, ...messages: string[]): SlackError {
  const response_metadata = { messages: messages.map((message) => `[ERROR] ${message}`) };
  return new SlackError(code, messages.length > 0 ? { errors: messages, response_metadata } : {});
}
