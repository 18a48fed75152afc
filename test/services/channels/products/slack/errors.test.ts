import { describe, expect, it } from 'vitest';
import { ProductError } from '../../../../../services/channels/products/product-error.ts';
import { toProductError } from '../../../../../services/channels/products/slack/errors.ts';

const platform = (error: string, more: object = {}) => ({
  code: 'slack_webapi_platform_error',
  data: { ok: false, error, ...more },
});
const request = (code: string) => ({
  code: 'slack_webapi_request_error',
  original: new TypeError('fetch failed', { cause: Object.assign(new Error('xoxb-secret'), { code }) }),
});

describe('Slack: mapping of errors', () => {
  it.each([
    ['unauthorized', platform('invalid_auth')],
    ['unauthorized', platform('token_revoked')],
    ['unauthorized', platform('account_inactive')],
    ['unauthorized', platform('missing_scope', { needed: 'chat:write' })],
    ['refused', platform('channel_not_found')],
    ['refused', platform('is_archived')],
    ['refused', platform('markdown_text_conflict')],
    ['missing', platform('message_not_found')],
    ['gone', platform('file_deleted')],
    ['rate_limited', platform('ratelimited')],
    ['unavailable', platform('service_unavailable')],
    ['ambiguous', platform('fatal_error')],
    ['ambiguous', platform('<html>xoxb-secret</html>')],
    ['unavailable', request('ECONNREFUSED')],
    ['unavailable', request('UND_ERR_CONNECT_TIMEOUT')],
    ['ambiguous', request('UND_ERR_SOCKET')],
    ['unavailable', { code: 'slack_webapi_http_error', statusCode: 503, body: 'xoxb-secret' }],
    ['rate_limited', new Error('Retry header did not contain a valid timeout')],
    ['ambiguous', new Error('xoxb-secret')],
  ])('maps to %s without the text of a response: %j', (kind, error) => {
    const mapped = toProductError(error);
    expect(mapped).toMatchObject({ kind });
    expect(`${mapped.message} ${mapped.cause}`).not.toMatch(/secret|html/);
  });

  it('keeps the time of a rate limit in milliseconds', () => {
    const error = { code: 'slack_webapi_rate_limited_error', retryAfter: 7 };
    expect(toProductError(error)).toMatchObject({ kind: 'rate_limited', retryAfterMs: 7_000 });
    expect(toProductError(platform('ratelimited')).retryAfterMs).toBeGreaterThan(0);
  });

  it('looks for a message after a server error, which may come after the effect', () => {
    const error = { code: 'slack_webapi_http_error', statusCode: 502 };
    expect(toProductError(error, { creates: true })).toMatchObject({ kind: 'ambiguous' });
  });

  it('names the missing scope and the problem of a proxy', () => {
    expect(toProductError(platform('missing_scope', { needed: 'files:write' })).message).toContain(
      'files:write',
    );
    const cause = Object.assign(new Error('The proxy answered with status 407.'), { code: 'PROXY_FAILED' });
    const error = { code: 'slack_webapi_request_error', original: new TypeError('fetch failed', { cause }) };
    expect(toProductError(error)).toMatchObject({ kind: 'unavailable', message: cause.message });
  });

  it('returns a ProductError unchanged', () => {
    const error = new ProductError('gone', 'a');
    expect(toProductError(error)).toBe(error);
  });
});
