import { APICallError } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { toModelFailure } from '../../../services/runner/models/failure.ts';

const now = new Date('2026-01-01T00:00:00.000Z');

function failureOf(statusCode: number | undefined, retryAfter?: string, message = 'no') {
  const error = new APICallError({
    message,
    statusCode,
    url: 'https://provider.test',
    requestBodyValues: {},
    responseHeaders: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
    isRetryable: statusCode === undefined ? true : undefined,
  });
  return toModelFailure(error, now);
}

describe('toModelFailure', () => {
  it.each([
    [429, 'model_rate_limited', true],
    [500, 'model_overloaded', true],
    [503, 'model_overloaded', true],
    [529, 'model_overloaded', true],
    [undefined, 'model_unreachable', true],
    [200, 'model_stream_cut', true],
    [402, 'model_quota_exhausted', false],
    [400, 'model_bad_request', false],
    [413, 'model_bad_request', false],
    [401, 'model_unauthorized', false],
    [403, 'model_unauthorized', false],
  ])('maps status %s to %s', (status, code, isRetryable) => {
    expect(failureOf(status)).toMatchObject({ code, isRetryable });
  });

  it.each([
    ['3', 3_000],
    ['0.25', 250],
    ['Thu, 01 Jan 2026 00:00:20 GMT', 20_000],
    ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
    ['86400', 3_600_000],
    ['soon', 0],
    ['-5', 0],
  ])('with retry-after %s returns a delay of %i ms', (header, delayMs) => {
    expect(failureOf(429, header).delayMs).toBe(delayMs);
  });

  it('hides messages about keys and keeps only the first line of other messages', () => {
    expect(failureOf(401, undefined, 'wrong key sk-123').message).not.toContain('sk-123');
    expect(failureOf(400, undefined, `prompt is too long\n  at stack`).message).toBe('prompt is too long');
    expect(failureOf(400, undefined, 'x'.repeat(10_000)).message.length).toBeLessThan(400);
  });

  it('returns model_error for an exception that is not a response', () => {
    expect(toModelFailure(new TypeError('x is not a function'), now)).toEqual({
      code: 'model_error',
      message: 'The model request failed unexpectedly.',
      isRetryable: false,
      delayMs: 0,
    });
  });
});
