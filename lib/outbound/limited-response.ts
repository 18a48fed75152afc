import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import type { Response as UndiciResponse } from 'undici';
import { OutboundError } from './outbound-error.ts';
import type { ResponseGuard } from './response-limits.ts';
import { toOutboundError } from './translate-error.ts';

const WITHOUT_BODY = [204, 205, 304];
/** The codings that undici decodes. */
const DECODED = ['gzip', 'x-gzip', 'deflate', 'br', 'zstd'];

/** Returns a response of this process whose body is limited by the guard. Throws OutboundError for an invalid status. */
export function limitedResponse(
  { status, statusText, headers, body }: UndiciResponse,
  guard: ResponseGuard,
): Response {
  if (status > 599) throw new OutboundError('response_invalid', 'The server sent an invalid status.');
  const answer = { status, statusText, headers: new Headers([...headers]) };
  if (body === null || WITHOUT_BODY.includes(status)) {
    guard.finish();
    return new Response(null, answer);
  }
  const codings = answer.headers.get('content-encoding')?.toLowerCase().split(',') ?? [];
  if (codings.length > 0 && codings.every((coding) => DECODED.includes(coding.trim())))
    for (const name of ['content-encoding', 'content-length']) answer.headers.delete(name);
  return new Response(limitBody(body, guard), answer);
}

/** Passes on a decoded body, and fails with an OutboundError when the guard ends it. Buffers nothing. */
function limitBody(
  body: NodeReadableStream<Uint8Array> | ReadableStream<Uint8Array>,
  guard: ResponseGuard,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (value) {
            guard.noteDecoded(value.length);
            controller.enqueue(value as Uint8Array<ArrayBuffer>);
          }
          if (done) {
            guard.finish();
            controller.close();
          }
        } catch (error) {
          guard.finish();
          controller.error(toOutboundError(error, guard.signal));
        }
      },
      async cancel(reason) {
        guard.abort(reason);
        await reader.cancel(reason).catch(() => {});
      },
    },
    { highWaterMark: 0 },
  );
}
