import { ERRORS, type ErrorCode } from '../../lib/error-codes.ts';
import type { Protocol } from '../../lib/event-types.ts';
import type { RouteAccess } from '../access.ts';
import type { RequestHeader } from '../input/headers.ts';
import { openaiCode } from '../protocols/openai/errors.ts';
import { type Components, share } from './components.ts';
import { type ResponseHeader, responseHeaders } from './headers.ts';

/** The inputs of an operation from which error codes follow. */
interface OperationInputs {
  query?: object | undefined;
  body?: object | undefined;
  headers?: readonly RequestHeader[] | undefined;
  access?: RouteAccess | undefined;
  impliedErrors?: 'all' | 'request' | 'none';
}

/** Errors that any request can return. */
const ANY_REQUEST: readonly ErrorCode[] = [
  'REQUEST_TIMEOUT',
  'URI_TOO_LONG',
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
/** Codes that do not depend on the operation. They are described once, by the response `default`. */
const COMMON: readonly ErrorCode[] = [...ANY_REQUEST, ...ANY_BROWSER, ...ANY_CALLER];
const WITH_BODY: readonly ErrorCode[] = ['INVALID_TEXT', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];
const WITH_MATCH: readonly ErrorCode[] = ['VERSION_CONFLICT'];
const WITH_KEY: readonly ErrorCode[] = ['IDEMPOTENCY_KEY_CONFLICT', 'IDEMPOTENCY_KEY_IN_USE'];

/** The error codes that follow from the inputs of an operation. */
export function impliedErrors(operation: OperationInputs): readonly ErrorCode[] {
  const { query, body, headers, access, impliedErrors: implied = 'all' } = operation;
  if (implied !== 'all') return implied === 'request' ? ['INVALID_REQUEST', ...ANY_REQUEST] : [];
  return [
    'INVALID_REQUEST',
    ...ANY_REQUEST,
    ...ANY_BROWSER,
    ...(access === 'open' ? [] : ANY_CALLER),
    ...(query ? (['INVALID_TEXT'] as const) : []),
    ...(body ? WITH_BODY : []),
    ...(headers?.includes('Idempotency-Key') ? WITH_KEY : []),
    ...(headers?.includes('If-Match') ? WITH_MATCH : []),
  ];
}

/** The form of the error responses of an operation. */
interface ErrorShape {
  /** Of the names of its components. */
  prefix: string;
  schemaOf(codes: readonly ErrorCode[]): object;
}

const ENVELOPE: ErrorShape = {
  prefix: '',
  schemaOf: (codes) => ({
    allOf: [
      { $ref: '#/components/schemas/ErrorEnvelope' },
      { type: 'object', properties: { code: { enum: codes } } },
    ],
  }),
};

/** https://www.jsonrpc.org/specification#error_object */
const JSON_RPC: ErrorShape = {
  prefix: 'JsonRpc',
  schemaOf: (codes) => ({
    type: 'object',
    required: ['jsonrpc', 'id', 'error'],
    properties: {
      jsonrpc: { const: '2.0' },
      id: { type: ['string', 'integer', 'null'] },
      error: {
        type: 'object',
        required: ['code', 'message', 'data'],
        properties: {
          code: { type: 'integer' },
          message: { type: 'string' },
          data: {
            type: 'object',
            required: ['code', 'request_id'],
            properties: { code: { enum: codes }, request_id: { type: 'string' } },
          },
        },
      },
    },
  }),
};

/** https://platform.openai.com/docs/guides/error-codes */
const OPENAI: ErrorShape = {
  prefix: 'Openai',
  schemaOf: (codes) => ({
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['message', 'type', 'param', 'code'],
        properties: {
          message: { type: 'string' },
          type: { type: 'string' },
          param: { type: ['string', 'null'] },
          code: { enum: codes.map(openaiCode) },
          request_id: { type: 'string' },
        },
      },
    },
  }),
};

/** JSON-RPC with the details that A2A describes: https://a2a-protocol.org/latest/specification/#95-error-handling */
const A2A: ErrorShape = {
  prefix: 'A2a',
  schemaOf: (codes) => ({
    type: 'object',
    required: ['jsonrpc', 'id', 'error'],
    properties: {
      jsonrpc: { const: '2.0' },
      id: { type: ['string', 'integer', 'null'] },
      error: {
        type: 'object',
        required: ['code', 'message'],
        properties: {
          code: { type: 'integer' },
          message: { type: 'string' },
          data: {
            type: 'array',
            items: { type: 'object', properties: { reason: { enum: codes } } },
          },
        },
      },
    },
  }),
};

/** The form of errors on the routes of a protocol. */
export const PROTOCOL_ERRORS: Record<Protocol, ErrorShape> = { mcp: JSON_RPC, openai: OPENAI, a2a: A2A };

/**
 * The responses of an operation for its declared and implied error codes: one per status, and `default` for the common
 * codes whose status has no response of its own.
 */
export function errorResponses(
  declared: readonly ErrorCode[],
  implied: readonly ErrorCode[],
  components: Components,
  shape: ErrorShape = ENVELOPE,
): Record<string, object> {
  const statusOf = (code: ErrorCode) => ERRORS[code].status;
  const specific = [...declared, ...implied.filter((code) => !COMMON.includes(code))];
  const statuses = new Set(specific.map(statusOf));
  const own = [...declared, ...implied].filter((code) => statuses.has(statusOf(code)));
  const common = implied.filter((code) => !statuses.has(statusOf(code)));
  const byStatus = Map.groupBy(inOrder(own), statusOf);
  const responses = [...byStatus].map(([status, names]) => [
    String(status),
    shareErrors(responseName(names), names, components, shape),
  ]);
  if (common.length > 0)
    responses.push(['default', shareErrors('AnyError', inOrder(COMMON), components, shape)]);
  return Object.fromEntries(responses);
}

/** Each code once, in the order of the table of errors. */
function inOrder(codes: readonly ErrorCode[]): ErrorCode[] {
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.includes(code));
}

/** Short names for the codes that most responses with a status have in common. */
const GROUPS: readonly { name: string; codes: readonly ErrorCode[] }[] = [
  { name: 'BadRequest', codes: ['INVALID_REQUEST'] },
  { name: 'Unauthorized', codes: ['UNAUTHENTICATED', 'TOKEN_EXPIRED'] },
  { name: 'Forbidden', codes: ['SCOPE_INSUFFICIENT', 'CSRF_REJECTED', 'HOST_NOT_ALLOWED'] },
  { name: 'IdempotencyConflict', codes: ['IDEMPOTENCY_KEY_CONFLICT', 'IDEMPOTENCY_KEY_IN_USE'] },
];

/** The codes of a response joined by `Or`, for example `BadRequestOrInvalidCursor`. */
function responseName(codes: readonly ErrorCode[]): string {
  const group = GROUPS.find((one) => one.codes.every((code) => codes.includes(code)));
  const rest = codes.filter((code) => !group?.codes.includes(code));
  return [...(group ? [group.name] : []), ...rest.map(pascalCase)].join('Or');
}

const pascalCase = (code: string) =>
  code.toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

const HEADERS_BY_STATUS: Record<number, readonly ResponseHeader[]> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  416: ['Content-Range'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

function shareErrors(
  name: string,
  codes: readonly ErrorCode[],
  components: Components,
  { prefix, schemaOf }: ErrorShape,
): object {
  const statuses = new Set(codes.map((code) => ERRORS[code].status));
  const isMixed = statuses.size > 1;
  const text = (code: ErrorCode) =>
    `\`${code}\`${isMixed ? ` (${ERRORS[code].status})` : ''}: ${ERRORS[code].about}`;
  const headers = new Set([...statuses].flatMap((status) => HEADERS_BY_STATUS[status] ?? []));
  return share(components, 'responses', prefix + name, {
    description: codes.map(text).join(' '),
    headers: responseHeaders([...headers], components),
    content: { 'application/json': { schema: schemaOf(codes) } },
  });
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
