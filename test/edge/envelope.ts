import { expect } from 'vitest';
import { ERRORS, type ErrorCode } from '../../lib/errors.ts';
import type { Envelope } from '../support/api.ts';

/** What a test needs to know of an answer, from fetch or from the wire. */
export interface Seen {
  status: number;
  headers: { get(name: string): string | null | undefined };
  text: string;
}

/** Headers of every answer, whatever it says. */
export function expectHeaders({ headers }: Seen): void {
  expect(headers.get('traceparent')).toMatch(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[01]$/);
  expect(headers.get('x-request-id')).toMatch(/^req_[0-9A-Z]{26}$/);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  for (const name of ['server', 'x-powered-by', 'access-control-allow-origin', 'set-cookie'])
    expect(headers.get(name) ?? null, name).toBe(null);
}

/** A success, with all that goes with it. What its data are, the caller knows. */
export function expectSuccess<Data = Envelope['data']>(seen: Seen): Envelope<Data> {
  expectHeaders(seen);
  expect(seen.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const body = JSON.parse(seen.text) as Envelope<Data>;
  expect(body).toMatchObject({ code: 'OK', message: 'success' });
  expect(Object.keys(body)).toEqual(
    Array.isArray(body.data) ? ['code', 'message', 'data', 'page'] : ['code', 'message', 'data'],
  );
  return body;
}

/** A refusal in the envelope of the specification, exactly; `code` undefined for any. Gives its details. */
export function expectRefusal(seen: Seen, code?: ErrorCode): { pointer: string; message: string }[] {
  expectHeaders(seen);
  expect(seen.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const body = JSON.parse(seen.text);
  if (code) expect(body.code, seen.text).toBe(code);
  const kind = ERRORS[body.code as ErrorCode];
  expect(kind, `${body.code} is in the table`).toBeDefined();
  expect(Object.keys(body)).toEqual(['code', 'message', 'data', 'error']);
  const { details, request_id: requestId, ...error } = body.error;
  expect(error).toEqual({
    code: body.code,
    status_code: kind.status,
    category: kind.category,
    retryable: kind.retryable,
    owner: kind.owner,
    user_message: body.message,
  });
  expect(seen.status).toBe(kind.status);
  expect(requestId).toBe(seen.headers.get('x-request-id'));
  expect(body.message).toBeTypeOf('string');
  expect(body.message).not.toMatch(/\n\s+at |node_modules|\/edge\/|\/services\//);
  if (kind.status === 429 || kind.status === 503) {
    expect(seen.headers.get('retry-after')).toBe(String(body.data.retry_after_seconds));
  } else expect(body.data).toBe(null);
  return details ?? [];
}

export async function see(response: Response): Promise<Seen> {
  return { status: response.status, headers: response.headers, text: await response.text() };
}
