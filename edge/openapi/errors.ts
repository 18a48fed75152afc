import { ERRORS, type ErrorCode } from '../../lib/errors.ts';
import type { RouteAccess } from '../access.ts';
import type { RequestHeader } from '../input/headers.ts';

/** The inputs of an operation from which error codes follow. */
interface OperationInputs {
  path: string;
  query?: object | undefined;
  body?: object | undefined;
  headers?: readonly RequestHeader[] | undefined;
  access?: RouteAccess | undefined;
  impliedErrors?: 'all' | 'request' | 'none';
}

/** Errors that any request can return. */
const ANY_REQUEST: readonly ErrorCode[] = [
  'INVALID_REQUEST',
  'REQUEST_TIMEOUT',
  'HEADERS_TOO_LARGE',
  'NOT_IMPLEMENTED',
  'HTTP_VERSION_NOT_SUPPORTED',
  'INTERNAL',
  'DEPENDENCY_UNAVAILABLE',
  'PEER_REJECTED',
  'DEADLINE_EXCEEDED',
  'STORAGE_FULL',
];
/** Errors of requests that a browser may have sent: all but signed webhooks. */
const ANY_BROWSER: readonly ErrorCode[] = ['CSRF_REJECTED', 'HOST_NOT_ALLOWED'];
/** Errors of routes that require a credential. */
const ANY_CALLER: readonly ErrorCode[] = [
  'UNAUTHENTICATED',
  'TOKEN_EXPIRED',
  'SCOPE_INSUFFICIENT',
  'RATE_LIMITED',
];
const WITH_BODY: readonly ErrorCode[] = ['INVALID_TEXT', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];
const WITH_KEY: readonly ErrorCode[] = ['IDEMPOTENCY_KEY_CONFLICT', 'IDEMPOTENCY_KEY_IN_USE'];

/** The error codes that follow from the inputs of an operation. */
export function impliedErrors(operation: OperationInputs): readonly ErrorCode[] {
  const { path, query, body, headers, access, impliedErrors: implied = 'all' } = operation;
  if (implied !== 'all') return implied === 'request' ? ANY_REQUEST : [];
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

/** One response per status, with its error codes. */
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
  description: 'Every response that is not a success.',
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
