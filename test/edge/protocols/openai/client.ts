import { createApi } from '../../../support/api.ts';
import type { System } from '../../../support/system.ts';

export type OpenaiClient = ReturnType<typeof createOpenaiClient>;

/** A plain client of the OpenAI-compatible API. Tests read members of any response. */
export function createOpenaiClient(system: Pick<System, 'url'>, credentials: Record<string, string> = {}) {
  const base = `${system.url}/api/v1/openai/v1`;
  const send = (method: string, path: string, body?: unknown, init: RequestInit = {}) =>
    fetch(base + path, {
      method,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...init,
      headers: { 'Content-Type': 'application/json', ...credentials, ...init.headers },
    });
  const json = async (response: Response) => ({
    status: response.status,
    headers: response.headers,
    // biome-ignore lint/suspicious/noExplicitAny: tests read members of any response
    body: (await response.json()) as any,
  });
  return {
    base,
    api: createApi(system.url),
    send,
    get: async (path: string) => json(await send('GET', path)),
    post: async (path: string, body: unknown, headers: Record<string, string> = {}) =>
      json(await send('POST', path, body, { headers })),
    delete: async (path: string) => json(await send('DELETE', path)),
  };
}

/** The data of the events of a stream, as text. */
export async function eventsOf(response: Response): Promise<string[]> {
  const text = await response.text();
  return text.split('\n\n').flatMap((block) => {
    const data = block.split('\n').find((line) => line.startsWith('data: '));
    return data === undefined ? [] : [data.slice('data: '.length)];
  });
}
