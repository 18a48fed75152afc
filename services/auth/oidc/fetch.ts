import { ProviderFailure } from './failure.ts';

/** A login asks up to four times, and the browser waits for all of it. */
const TIMEOUT_MS = 3_000;
/** Nothing that an identity provider has to tell is longer. */
const MAX_BYTES = 1024 * 1024;

interface Request {
  method: string;
  headers: RequestInit['headers'];
  body?: RequestInit['body'];
  signal?: AbortSignal | undefined;
}

/** Asks an identity provider: no redirects, no more than is sensible, in time or not at all. Throws ProviderFailure. */
export async function askProvider(
  url: string,
  { method, headers, body, signal }: Request,
): Promise<Response> {
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      method,
      headers,
      body: body ?? null,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
    const { status } = response;
    // What it does not like it says with 4xx, and the libraries understand it.
    if (status >= 500 || status < 200 || (status >= 300 && status < 400)) {
      await response.body?.cancel();
      throw new ProviderFailure(`the identity provider answers with ${status}`);
    }
    return new Response(await bytesOf(response), { status, headers: response.headers });
  } catch (error) {
    if (error instanceof ProviderFailure) throw error;
    throw new ProviderFailure('the identity provider does not answer');
  }
}

async function bytesOf(response: Response): Promise<Buffer | null> {
  if (!response.body) return null;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES)
      throw new ProviderFailure(`the identity provider answers with more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
