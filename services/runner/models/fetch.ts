const MAX_ERROR_BYTES = 64 * 1024;

/**
 * Creates the fetch function for a provider. It sends requests only to the server of the base URL and does not follow
 * redirects, because their target would get the API key: packages of providers also fetch files that tools name. It removes
 * secrets from error responses, because some providers repeat them.
 */
export function createFetch(baseUrl: string, secrets: readonly string[] = []): typeof fetch {
  const { origin } = new URL(baseUrl);
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== origin)
      throw new Error('A request to another server than that of the provider is refused.');
    const response = await fetch(input, { ...init, redirect: 'manual' });
    if (response.ok || secrets.length === 0) return response;
    const text = secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), await readPrefix(response));
    const { status, statusText, headers } = response;
    return new Response(text || null, { status, statusText, headers });
  };
}

async function readPrefix({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= MAX_ERROR_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_ERROR_BYTES);
}
