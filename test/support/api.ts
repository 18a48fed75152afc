import { createHash, createHmac } from 'node:crypto';

/** The envelope of every answer. */
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

/** The tests read members of whatever came back. */
type AnyData = Record<string, unknown> & unknown[];

export interface Answer {
  status: number;
  headers: Headers;
  body: Envelope;
}

/** Speaks to a running system as a client would. */
export function createApi(origin: string) {
  async function send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const json = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const response = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers: { ...json, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Envelope };
  }

  return {
    origin,
    send,
    get: (path: string) => send('GET', path),
    post: (path: string, body: unknown = {}, headers?: Record<string, string>) =>
      send('POST', path, body, headers),
    async createAgent(members: object = {}): Promise<string> {
      const agent = created(
        await send('POST', '/agents', { name: 'Echo', model: 'rehearsal/echo', ...members }),
      );
      return String(agent.agent_id);
    },
    async createWebhook(agentId: string, members: object = {}): Promise<Webhook> {
      const {
        deployment_id: id,
        trigger_url: url,
        shared_secret: secret,
      } = created(
        await send('POST', `/admin/agents/${agentId}/deployments`, { type: 'webhook', ...members }),
      );
      return { id: String(id), url: String(url), secret: String(secret) };
    },
    trigger,
  };
}

/** What a test stands on has to be there: a refusal ends it here, and not where something of it is missing. */
function created({ status, body }: Answer): AnyData {
  if (status !== 201) throw new Error(`nothing was created: ${status} ${JSON.stringify(body)}`);
  return body.data;
}

export type Api = ReturnType<typeof createApi>;

export interface Webhook {
  id: string;
  url: string;
  secret: string;
}

/** The headers with which a sender proves that a body is its own. */
export function signed(
  secret: string,
  body: Uint8Array | string,
  timestamp = String(Math.floor(Date.now() / 1000)),
) {
  const digest = createHash('sha256').update(body).digest('hex');
  const signature = createHmac('sha256', secret).update(`${timestamp}.${digest}`).digest('base64');
  return { 'X-WEBHOOK-TIMESTAMP': timestamp, 'X-WEBHOOK-SIGNATURE': signature };
}

async function trigger(
  { url, secret }: Webhook,
  body: Uint8Array<ArrayBuffer> | string,
  headers: Record<string, string> = signed(secret, body),
): Promise<Answer> {
  const response = await fetch(url, { method: 'POST', body, headers });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Envelope };
}
