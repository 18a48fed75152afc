import { once } from 'node:events';
import { WebSocket } from 'ws';
import { until } from '../../wait.ts';
import { json, type ProductRequest, type ProductResponse, startProductServer } from '../http-server.ts';
import type { Json } from './objects.ts';
import type { SlackServer } from './server.ts';

type Body = Json & { ok: boolean; error?: string; ts?: string };

/** Calls a method of the Web API with a form, as @slack/web-api does. Structures are sent as JSON. */
export async function callForm(
  slack: SlackServer,
  method: string,
  args: Json = {},
  token = slack.botToken,
): Promise<Body> {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(args))
    form.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  const response = await fetch(`${slack.apiUrl}${method}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: form,
  });
  return (await response.json()) as Body;
}

export interface Envelope {
  type: string;
  envelope_id: string;
  payload: Json & { event?: Json };
  accepts_response_payload: boolean;
  retry_attempt?: number;
  retry_reason?: string;
  reason?: string;
  num_connections?: number;
}

export interface SocketClient extends AsyncDisposable {
  /** All messages of the server, in order. The first is `hello`. */
  received: Envelope[];
  acknowledge(envelope: Envelope, payload?: Json): void;
  socket: WebSocket;
}

/** Connects to Socket Mode. `acknowledges` answers each envelope. */
export async function connectSocket(slack: SlackServer, acknowledges = true): Promise<SocketClient> {
  const { url } = await callForm(slack, 'apps.connections.open', {}, slack.appToken);
  const socket = new WebSocket(String(url));
  const received: Envelope[] = [];
  const acknowledge = ({ envelope_id }: Envelope, payload?: Json) =>
    socket.send(JSON.stringify({ envelope_id, ...(payload && { payload }) }));
  socket.on('message', (data) => {
    const envelope: Envelope = JSON.parse(String(data));
    received.push(envelope);
    if (acknowledges && envelope.envelope_id) acknowledge(envelope);
  });
  await once(socket, 'open');
  await until('the server says hello', () => received.length > 0);
  return {
    received,
    acknowledge,
    socket,
    async [Symbol.asyncDispose]() {
      socket.terminate();
    },
  };
}

export interface TestApp extends AsyncDisposable {
  url: string;
  requests: ProductRequest[];
  /** The response to the next requests. Default: the challenge, or 200. */
  respond: (request: ProductRequest) => ProductResponse | Promise<ProductResponse>;
}

/** Starts an app with one request URL. */
export async function startApp(): Promise<TestApp> {
  const requests: ProductRequest[] = [];
  const app: Pick<TestApp, 'respond'> = { respond: () => ({ status: 200 }) };
  const server = await startProductServer({
    handle(request) {
      const isJson = request.headers['content-type'] === 'application/json';
      const body: Json = isJson ? JSON.parse(request.body.toString()) : {};
      if (body.type === 'url_verification') return json({ challenge: body.challenge });
      requests.push(request);
      return app.respond(request);
    },
  });
  return Object.assign(app, {
    url: `${server.url}/slack/events`,
    requests,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  });
}
