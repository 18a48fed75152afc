import { ProductError } from './product-error.ts';

export function tooLarge(maxBytes: number): ProductError {
  return new ProductError('too_large', `The file has more than ${maxBytes} bytes.`);
}

/**
 * Returns the bytes of a response. Throws `too_large` above `maxBytes`, `unavailable` when the response is cut off, and the
 * reason of an aborted signal.
 */
export async function* bytesOf(
  { body }: Response,
  { maxBytes, product }: { maxBytes: number; product: string },
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  let size = 0;
  try {
    for await (const chunk of body ?? []) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      yield chunk;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProductError) throw error;
    throw new ProductError('unavailable', `The download from ${product} was cut off.`);
  }
}
