import { type Components, share } from './components.ts';

/** The response headers that routes declare. Every response also has `X-Request-Id`. */
const HEADERS = {
  ETag: {
    description:
      'The revision of the resource, for `If-Match` and `If-None-Match`; of a list, a digest of the page; of a file, the ' +
      'SHA-256 of its content.',
    example: '"3"',
  },
  'Idempotent-Replayed': {
    description:
      '`true` when the response is the stored one of an earlier request with the same `Idempotency-Key`.',
    example: 'true',
  },
  'Retry-After': {
    description: 'Seconds after which a retry can succeed. Present with the statuses 429 and 503.',
    example: '5',
  },
  'Content-Disposition': {
    description: 'An attachment with the name of the file.',
    example: 'attachment; filename="report.pdf"',
  },
  'Content-Range': { description: 'The position of the range in the file.', example: 'bytes 0-1023/4096' },
  'Accept-Ranges': { description: 'The unit of ranges.', example: 'bytes' },
  'WWW-Authenticate': {
    description: 'The authentication scheme, and what the credential lacks (RFC 6750).',
    example: 'Bearer realm="agent-hosting-service"',
  },
  Location: { description: 'The URL to which the browser is redirected.', example: '/' },
  'Set-Cookie': { description: 'A cookie for this origin.', example: 'ahs_login=…; Path=/; HttpOnly' },
  'x-vercel-ai-ui-message-stream': { description: 'The version of the stream protocol.', example: 'v1' },
  'X-Accel-Buffering': { description: 'Tells nginx not to buffer the stream.', example: 'no' },
  'X-Request-Id': {
    description: 'The id of the request, which its log lines and its trace contain.',
    example: 'req_01KAK3V9Q6W1X2Y3Z4A5B6C7D8',
  },
} as const;

export type ResponseHeader = keyof typeof HEADERS;

/** The headers of a response, as references to components. */
export function responseHeaders(names: readonly ResponseHeader[], components: Components): object {
  return Object.fromEntries(
    [...names, 'X-Request-Id' as const].map((name) => {
      const { description, example } = HEADERS[name];
      const header = { description, schema: { type: 'string' }, example };
      return [name, share(components, 'headers', name, header)];
    }),
  );
}
