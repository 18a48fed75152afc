import { OutboundError } from '../../../../lib/outbound/outbound-error.ts';
import type { InboundFile } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { tooLarge } from '../download.ts';
import type { ProductContext } from '../product.ts';
import { ProductError } from '../product-error.ts';

const TOTAL_MS = 120_000;

/** Returns the bytes of a file that a message contains or names by URL. The URL may have no private address. */
export async function downloadFile(
  { outbound, fileMaxBytes }: Pick<ProductContext, 'outbound' | 'fileMaxBytes'>,
  file: InboundFile,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  if (file.url === '') {
    if (file.content.length > fileMaxBytes) throw tooLarge(fileMaxBytes);
    return once(file.content);
  }
  const send = outbound.fetchWith({
    redirects: 'same-origin',
    responseBytes: fileMaxBytes,
    totalMs: TOTAL_MS,
  });
  const response = await send(file.url, { signal }).catch((error: unknown) => {
    throw asProductError(error, fileMaxBytes);
  });
  if (!response.ok) {
    await response.body?.cancel();
    const { status } = response;
    if (status === 429 || status >= 500)
      throw new ProductError('unavailable', `The server of the file answered with status ${status}.`);
    throw new ProductError('gone', `The server of the file answered with status ${status}.`);
  }
  return bytesOf(response, fileMaxBytes);
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

async function* bytesOf(response: Response, fileMaxBytes: number): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of response.body ?? []) yield chunk;
  } catch (error) {
    throw asProductError(error, fileMaxBytes);
  }
}

/** An address that is not permitted stays so, and a server that does not answer may answer later. */
function asProductError(error: unknown, fileMaxBytes: number): unknown {
  if (!(error instanceof OutboundError)) return error;
  if (error.problem === 'too_large') return tooLarge(fileMaxBytes);
  const isTemporary = error.problem === 'timed_out' || error.problem === 'unreachable';
  return new ProductError(isTemporary ? 'unavailable' : 'gone', error.message);
}
