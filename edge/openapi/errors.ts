import { ERRORS, type ErrorCode } from '../../lib/errors.ts';
import type { Access } from '../access.ts';
import type { RequestHeader } from '../input/headers.ts';

/** What an operation takes, as far as its refusals follow from it. */
interface Taken {
  path: string;
  query?: object | undefined;
  body?: object | undefined;
  headers?: readonly RequestHeader[] | undefined;
  access?: Access | undefined;
}

/** Whoever sends it and whatever it is, a request may be answered with these. */
export const ANY_REQUEST: readonly ErrorCode[] = [
  'INVALID_REQUEST',
  'REQUEST_TIMEOUT',
  'HEADERS_TOO_LARGE',
  'INTERNAL',
  'DEPENDENCY_UNAVAILABLE',
  'PEER_REJECTED',
  'DEADLINE_EXCEEDED',
  'STORAGE_FULL',
];
/** Of everything but what is signed: a browser may have sent it. */
const ANY_BROWSER: readonly ErrorCode[] = ['CSRF_REJECTED', 'HOST_NOT_ALLOWED'];
/** Of what is not open to anybody. */
export const ANY_CALLER: readonly ErrorCode[] = [
  'UNAUTHENTICATED',
  'TOKEN_EXPIRED',
  'SCOPE_INSUFFICIENT',
  'RATE_LIMITED',
];
const WITH_BODY: readonly ErrorCode[] = ['INVALID_TEXT', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];
const WITH_KEY: readonly ErrorCode[] = ['IDEMPOTENCY_KEY_CONFLICT', 'IDEMPOTENCY_KEY_IN_USE'];

/** The refusals that follow from what an operation takes. */
export function impliedErrors({ path, query, body, headers, access }: Taken): ErrorCode[] {
  return [
    ...ANY_REQUEST,
    ...ANY_BROWSER,
    ...(access === 'open' ? [] : ANY_CALLER),
    ...(path.includes('{') ? (['URI_TOO_LONG'] as const) : []),
    ...(query ? (['INVALID_TEXT'] as const) : []),
    ...(body ? WITH_BODY : []),
    ...(headers?.includes('Idempotency-Key') ? WITH_KEY : []),
  ];
}

/** One response for each status, which lists the codes that come with it. */
export function errorResponses(codes: readonly ErrorCode[]): Record<string, object> {
  const byStatus = Map.groupBy(new Set(codes), (code) => ERRORS[code].status);
  const sorted = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(
    sorted.map(([status, names]) => [
      String(status),
      {
        description: names.map((name) => `\`${name}\`: ${ERRORS[name].about}`).join(' '),
        content: {
          'application/json': {
            schema: {
              allOf: [
                { $ref: '#/components/schemas/ErrorEnvelope' },
                { properties: { code: { enum: names } } },
              ],
            },
          },
        },
      },
    ]),
  );
}

/** The schema of the error envelope, a component of the document. */
export const ERROR_ENVELOPE = {
  type: 'object',
  description: 'Every answer that is not a success.',
  required: ['code', 'message', 'data', 'error'],
  properties: {
    code: { type: 'string' },
    message: { type: 'string' },
    data: {
      anyOf: [
        { type: 'null' },
        {
          type: 'object',
          required: ['retry_after_seconds'],
          properties: { retry_after_seconds: { type: 'integer' } },
        },
      ],
    },
    error: {
      type: 'object',
      required: ['code', 'status_code', 'category', 'retryable', 'owner', 'user_message'],
      properties: {
        code: { type: 'string' },
        status_code: { type: 'integer' },
        category: { enum: ['request', 'auth', 'state', 'limit', 'dependency', 'internal'] },
        retryable: { type: 'boolean' },
        owner: { enum: ['client', 'operator', 'platform', 'provider'] },
        user_message: { type: 'string' },
        details: {
          type: 'array',
          items: {
            type: 'object',
            required: ['pointer', 'message'],
            properties: { pointer: { type: 'string' }, message: { type: 'string' } },
          },
        },
        request_id: { type: 'string' },
      },
    },
  },
};
