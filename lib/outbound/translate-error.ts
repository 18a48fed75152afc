import { OutboundError } from './outbound-error.ts';

/** Limit of the headers of a response. */
export const MAX_HEADER_BYTES = 32 * 1024;
/** Codes of Node and undici for a connection that failed. */
const CONNECTION_CODES = /^(E[A-Z]+|UND_ERR_(SOCKET|DESTROYED|CLOSED|ABORTED))$/;

/** Returns the reason of the signal if it was aborted, and an OutboundError otherwise. */
export function toOutboundError(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof OutboundError) return error;
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof OutboundError) return cause;
  const { code, message } = describe(cause);
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return new OutboundError('too_large', `The response has more than ${MAX_HEADER_BYTES} bytes of headers.`);
  if (message === 'bad port')
    return new OutboundError('url_refused', 'The port of the URL is reserved for another protocol.');
  if (cause === undefined || (CONNECTION_CODES.test(code) && message !== 'bad upgrade'))
    return new OutboundError('unreachable', 'The connection ended before the response was complete.');
  return new OutboundError('response_invalid', 'The response is not valid HTTP.');
}

function describe(cause: unknown): { code: string; message: string } {
  if (!(cause instanceof Error)) return { code: '', message: '' };
  return { code: 'code' in cause ? String(cause.code) : '', message: cause.message };
}
