import { describe, expect, it } from 'vitest';
import {
  isNotModified,
  isTooOld,
  isUnreachable,
  refusalError,
} from '../../../../../services/channels/products/telegram/refusal.ts';

const refusal = (code: number, description: string) => ({ code, description });

describe('refusalError', () => {
  it.each([
    [401, 'Unauthorized', 'unauthorized'],
    [404, 'Not Found', 'unauthorized'],
    [403, 'Forbidden: bot was blocked by the user', 'refused'],
    [403, 'Forbidden: bot was kicked from the supergroup chat', 'refused'],
    [400, 'Bad Request: chat not found', 'refused'],
    [400, 'Bad Request: message to edit not found', 'missing'],
    [400, 'Bad Request: message to delete not found', 'missing'],
    [409, 'Conflict: terminated by other getUpdates request', 'refused'],
    [413, 'Request Entity Too Large', 'refused'],
    [500, 'Internal Server Error', 'unavailable'],
    [502, 'Bad Gateway', 'unavailable'],
  ])('translates status %i "%s" to %s', (code, description, kind) => {
    expect(refusalError(refusal(code, description))).toMatchObject({
      kind,
      message: `Telegram: ${description}`,
    });
  });

  it('takes the time of a rate limit from the response', () => {
    const limited = { ...refusal(429, 'Too Many Requests: retry after 7'), retryAfterSeconds: 7 };
    expect(refusalError(limited)).toMatchObject({ kind: 'rate_limited', retryAfterMs: 7_000 });
    expect(refusalError(refusal(429, 'Too Many Requests'))).toMatchObject({ retryAfterMs: 1_000 });
  });
});

describe('refusals with a meaning of their own', () => {
  it('recognizes unchanged messages, people who have not started the bot, and old clicks', () => {
    expect(isNotModified(refusal(400, 'Bad Request: message is not modified: specified …'))).toBe(true);
    expect(isNotModified(refusal(400, 'Bad Request: message text is empty'))).toBe(false);
    expect(isUnreachable(refusal(403, "Forbidden: bot can't initiate conversation with a user"))).toBe(true);
    expect(isUnreachable(refusal(400, 'Bad Request: chat not found'))).toBe(true);
    expect(isUnreachable(refusal(400, "Bad Request: can't parse entities"))).toBe(false);
    expect(isTooOld(refusal(400, 'Bad Request: query is too old and response timeout expired'))).toBe(true);
  });
});
