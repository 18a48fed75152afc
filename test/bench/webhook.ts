import { type Api, createApi, signed, type Webhook } from '../support/api.ts';

export interface BenchWebhook {
  api: Api;
  webhook: Webhook;
  /** A signed trigger as a whole HTTP request. */
  request: string;
}

const BODY_BYTES = 1_024;
export const BODY = bodyOf(BODY_BYTES);

/** A report of so many bytes, as a sender would write it. */
function bodyOf(bytes: number): string {
  const items = Array.from({ length: 20 }, (_, i) => ({
    id: i + 10,
    name: `item number ${i + 10}`,
    ok: true,
  }));
  const empty = JSON.stringify({ event: 'build.finished', items, note: '' });
  return JSON.stringify({ event: 'build.finished', items, note: '.'.repeat(bytes - empty.length) });
}

/** An agent that echoes, and a webhook that starts it. */
export async function createWebhook(origin: string): Promise<BenchWebhook> {
  const api = createApi(origin);
  const webhook = await api.createWebhook(await api.createAgent());
  return { api, webhook, request: requestFor(webhook.url, webhook.secret) };
}

export function requestFor(url: string, secret: string): string {
  const { pathname, host } = new URL(url);
  const head = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    'Content-Type: application/json',
    `Content-Length: ${BODY_BYTES}`,
    ...Object.entries(signed(secret, BODY)).map(([name, value]) => `${name}: ${value}`),
  ];
  return `${head.join('\r\n')}\r\n\r\n${BODY}`;
}
