import { expect } from 'vitest';
import { ERRORS, type ErrorCode } from '../../lib/error-codes.ts';
import type { Envelope } from '../support/api.ts';

/** A response from fetch or from a raw socket. */
export interface ReceivedResponse {
  status: number;
  headers: { get(name: string): string | null | undefined };
  text: string;
}

/** Checks the headers that every response has. */
export function expectHeaders({ headers }: ReceivedResponse): void {
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

/** Checks a success response and returns its body. */
export function expectSuccess<Data = Envelope['data']>(response: ReceivedResponse): Envelope<Data> {
  expectHeaders(response);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const body = JSON.parse(response.text) as Envelope<Data>;
  expect(body).toMatchObject({ code: 'OK', message: 'success' });
  expect(Object.keys(body)).toEqual(
    Array.isArray(body.data) ? ['code', 'message', 'data', 'page'] : ['code', 'message', 'data'],
  );
  return body;
}

/** Checks an error response completely; any code if `code` is undefined. Returns its details. */
export function expectRefusal(
  response: ReceivedResponse,
  code?: ErrorCode,
): { pointer: string; message: string }[] {
  expectHeaders(response);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const body = JSON.parse(response.text);
  if (code) expect(body.code, response.text).toBe(code);
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
  expect(response.status).toBe(kind.status);
  expect(requestId).toBe(response.headers.get('x-request-id'));
  expect(body.message).toBeTypeOf('string');
  expect(body.message).not.toMatch(/\n\s+at |node_modules|\/edge\/|\/services\//);
  if (kind.status === 429 || kind.status === 503) {
    expect(response.headers.get('retry-after')).toBe(String(body.data.retry_after_seconds));
  } else expect(body.data).toBe(null);
  return details ?? [];
}

export async function readResponse(response: Response): Promise<ReceivedResponse> {
  return { status: response.status, headers: response.headers, text: await response.text() };
}
