import { createHash, createHmac } from 'node:crypto';

/** The response envelope. */
export interface Envelope<Data = AnyData> {
  code: string;
  message: string;
  data: Data;
  page?: { next_cursor: string | null; has_more: boolean };
  error?: {
    code: string;
    status_code: number;
    category: string;
    retryable: boolean;
    owner: string;
    user_message: string;
  };
}

/** Tests read members of any response. */
type AnyData = Record<string, unknown> & unknown[];

export interface ApiResponse {
  status: number;
  headers: Headers;
  body: Envelope;
}

/** A client of a running system. Every request has `credentials` among its headers. */
export function createApi(origin: string, credentials: Record<string, string> = {}) {
  async function send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    const json = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const response = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers: { ...json, ...credentials, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Envelope };
  }

  return {
    origin,
    credentials,
    send,
    get: (path: string) => send('GET', path),
    /** The data of a response. Tests name the members that they read. */
    read: async <Data>(path: string): Promise<Data> => (await send('GET', path)).body.data as Data,
    /** The items of a page. Tests name the members that they read. */
    list: async <Item>(path: string): Promise<Item[]> => (await send('GET', path)).body.data as Item[],
    post: (path: string, body: unknown = {}, headers?: Record<string, string>) =>
      send('POST', path, body, headers),
    async createAgent(members: object = {}): Promise<string> {
      const agent = dataOfCreated(
        await send('POST', '/agents', { name: 'Echo', model: 'rehearsal/echo', ...members }),
      );
      return String(agent.agent_id);
    },
    async createWebhook(agentId: string, members: object = {}): Promise<Webhook> {
      const {
        deployment_id: id,
        trigger_url: url,
        shared_secret: secret,
      } = dataOfCreated(
        await send('POST', `/admin/agents/${agentId}/deployments`, { type: 'webhook', ...members }),
      );
      return { id: String(id), url: String(url), secret: String(secret) };
    },
    trigger,
  };
}

/** Fails with the response when a resource was not created, so that a test reports the cause. */
export function dataOfCreated({ status, body }: ApiResponse): AnyData {
  if (status !== 201) throw new Error(`the resource was not created: ${status} ${JSON.stringify(body)}`);
  return body.data;
}

export type Api = ReturnType<typeof createApi>;

export interface Webhook {
  id: string;
  url: string;
  secret: string;
}

/** Returns the signature headers of a webhook request. `timestamp` is in Unix seconds. */
export function signed(
  secret: string,
  body: Uint8Array | string,
  timestamp = String(Math.floor(Date.now() / 1000)),
) {
  const digest = createHash('sha256').update(body).digest('hex');
  const signature = createHmac('sha256', secret).update(`${timestamp}.${digest}`).digest('base64');
  return { 'X-WEBHOOK-TIMESTAMP': timestamp, 'X-WEBHOOK-SIGNATURE': signature };
}

/** Sends a webhook request, signed unless `headers` are given. */
export function sendTrigger(
  { url, secret }: Webhook,
  body: Uint8Array<ArrayBuffer> | string,
  headers: Record<string, string> = signed(secret, body),
): Promise<Response> {
  return fetch(url, { method: 'POST', body, headers });
}

async function trigger(...request: Parameters<typeof sendTrigger>): Promise<ApiResponse> {
  const response = await sendTrigger(...request);
  return { status: response.status, headers: response.headers, body: (await response.json()) as Envelope };
}
