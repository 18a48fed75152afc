import type { OperatorTransport } from '../../../../lib/outbound/operator-transport.ts';

/** Requests to Discord. Redirects are not followed. */
export interface DiscordTransport {
  send(url: string, init: RequestInit): Promise<Response>;
}

export function discordTransport({ fetch }: Pick<OperatorTransport, 'fetch'>): DiscordTransport {
  return { send: async (url, init) => fetch(url, { ...(await portable(init)), redirect: 'manual' }) };
}

/** The fetch of the transport does not know the forms of Node's own one, which the library creates. */
async function portable({ method, headers, body, signal }: RequestInit): Promise<RequestInit> {
  const init = { ...(method && { method }), ...(signal && { signal }) };
  if (!(body instanceof FormData)) return { ...init, ...(headers && { headers }), ...(body && { body }) };
  const form = new Response(body);
  const typed = new Headers(headers);
  typed.set('content-type', form.headers.get('content-type') ?? '');
  return { ...init, headers: Object.fromEntries(typed), body: await form.arrayBuffer() };
}
