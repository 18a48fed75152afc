/** A refusal of the Bot API: `{ok: false, error_code, description, parameters?}`. */
export class TelegramError extends Error {
  readonly code: number;
  readonly parameters: { retry_after?: number; migrate_to_chat_id?: number } | undefined;

  constructor(code: number, description: string, parameters?: TelegramError['parameters']) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

export function badRequest(problem: string): TelegramError {
  return new TelegramError(400, `Bad Request: ${problem}`);
}

export function conflict(problem: string): TelegramError {
  return new TelegramError(409, `Conflict: ${problem}`);
}

export function forbidden(problem: string): TelegramError {
  return new TelegramError(403, `Forbidden: ${problem}`);
}

export function tooManyRequests(seconds: number): TelegramError {
  return new TelegramError(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });
}
