import type { InboundFile } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { bytesOf, tooLarge } from '../download.ts';
import { ProductError } from '../product-error.ts';
import { connectionError, rateLimited } from './errors.ts';
import { isFileUrl } from './hosts.ts';
import type { DiscordTransport } from './transport.ts';

const TRANSFER_MS = 120_000;

interface DownloadOptions {
  apiUrl: string;
  transport: DiscordTransport;
  maxBytes: number;
}

/** Reads an attachment from Discord's CDN. Its URL is signed for some hours and needs no token. */
export async function downloadFile(
  { url, size }: InboundFile,
  { apiUrl, transport, maxBytes }: DownloadOptions,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  if (size > maxBytes) throw tooLarge(maxBytes);
  if (!isFileUrl(url, apiUrl)) throw new ProductError('gone', 'The file is not stored at Discord.');
  const ends = AbortSignal.any([signal, AbortSignal.timeout(TRANSFER_MS)]);
  const response = await transport.send(url, { signal: ends }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new ProductError('unavailable', connectionError(error).message);
  });
  const problem = problemOf(response, maxBytes);
  if (problem) {
    await response.body?.cancel();
    throw problem;
  }
  return bytesOf(response, { maxBytes, product: 'Discord' }, signal);
}

function problemOf({ ok, status, headers }: Response, maxBytes: number): ProductError | undefined {
  if (status === 429) return rateLimited(Number(headers.get('retry-after') ?? Number.NaN) * 1000);
  if (status >= 500) return new ProductError('unavailable', `Discord answered with status ${status}.`);
  if (!ok) return new ProductError('gone', 'Discord does not have the file any more.');
  return Number(headers.get('content-length')) > maxBytes ? tooLarge(maxBytes) : undefined;
}
