const MAX_REFUSAL_BYTES = 64 * 1024;

/**
 * Asks a provider. Redirects are not followed, as whoever they lead to would be handed the key; and the words of a
 * refusal lose the key, should the provider say it again.
 */
export function createFetch(key: string | undefined): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'manual' });
    if (response.ok || key === undefined) return response;
    const text = (await beginning(response)).replaceAll(key, '…');
    const { status, statusText, headers } = response;
    return new Response(text || null, { status, statusText, headers });
  };
}

async function beginning({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= MAX_REFUSAL_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_REFUSAL_BYTES);
}
