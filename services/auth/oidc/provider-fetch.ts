import { OidcProviderError } from './provider-error.ts';

/** Time limit of a request. A login sends up to four requests while the browser waits. */
const TIMEOUT_MS = 3_000;
/** Maximum size of a response body. */
const MAX_BYTES = 1024 * 1024;

interface Request {
  method: string;
  headers: RequestInit['headers'];
  body?: RequestInit['body'];
  signal?: AbortSignal | undefined;
}

/** Sends a request to the identity provider, without redirects and with limits of time and size. Throws OidcProviderError. */
export async function fetchFromProvider(
  url: string,
  { method, headers, body, signal }: Request,
): Promise<Response> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      method,
      headers,
      body: body ?? null,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    const { status } = response;
    // The libraries handle 4xx responses.
    if (status >= 500 || status < 200 || (status >= 300 && status < 400)) {
      await response.body?.cancel();
      throw new OidcProviderError(`the identity provider answered with HTTP status ${status}`);
    }
    return new Response(await readBody(response), { status, headers: response.headers });
  } catch (error) {
    if (error instanceof OidcProviderError) throw error;
    throw new OidcProviderError('the identity provider did not respond');
  }
}

async function readBody(response: Response): Promise<Buffer | null> {
  if (!response.body) return null;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES)
      throw new OidcProviderError(`the response of the identity provider has more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
