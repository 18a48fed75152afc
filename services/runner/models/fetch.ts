const MAX_ERROR_BYTES = 64 * 1024;

/**
 * Creates the fetch function for a provider. It does not follow redirects, because their target would get the API key,
 * and it removes the key from error responses, because some providers repeat it.
 */
export function createFetch(key: string | undefined): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'manual' });
    if (response.ok || key === undefined) return response;
    const text = (await readPrefix(response)).replaceAll(key, '…');
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
