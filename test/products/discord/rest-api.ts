import type { Discord } from '../../support/products/discord/server.ts';

export interface RestAnswer {
  status: number;
  headers: Headers;
  // The shape depends on the route.
  body: Record<string, unknown> & unknown[];
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Sends a request as the bot of the first application. An empty token sends none. */
export async function callRest(
  { apiUrl, application }: Pick<Discord, 'apiUrl' | 'application'>,
  method: Method,
  path: string,
  body?: object,
  token = application.token,
): Promise<RestAnswer> {
  const isForm = body instanceof FormData;
  const response = await fetch(`${apiUrl}/v10${path}`, {
    method,
    headers: {
      ...(token !== '' && { authorization: `Bot ${token}` }),
      ...(body && !isForm && { 'content-type': 'application/json' }),
    },
    ...(body && { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}
