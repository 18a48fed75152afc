import { Agent, request } from 'node:http';

/** A request whose query, headers and body are sent as they are. */
export interface HttpRequest {
  method: string;
  /** Below /api/v1, with its query. */
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

interface TextResponse {
  status: number;
  text: string;
}

const CONNECTIONS = 16;
const RESPONSE_WITHIN_MS = 60_000;

/** A client that keeps its connections open. The text of a stream is empty unless `readsStreams`. */
export function createSender(origin: string, { readsStreams = false } = {}) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const send = ({ method, path, headers = {}, body }: HttpRequest): Promise<TextResponse> =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
      const options = { method, agent, headers: { ...length, ...headers } };
      const sent = request(`${origin}/api/v1`, { ...options, path: `/api/v1${path}` }, (response) => {
        const chunks: Buffer[] = [];
        const status = response.statusCode ?? 0;
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve({ status, text: Buffer.concat(chunks).toString() }));
        response.on('error', reject);
        // A request that was accepted by mistake can start a stream that does not end.
        if (!readsStreams && response.headers['content-type']?.startsWith('text/event-stream')) {
          resolve({ status, text: '' });
          response.destroy();
        }
      });
      sent.on('error', reject);
      sent.setTimeout(RESPONSE_WITHIN_MS, () =>
        sent.destroy(
          new Error(`no response: ${JSON.stringify({ method, path, headers, body: String(body) })}`),
        ),
      );
      sent.end(body);
    });

  return {
    /** Sends all requests, several at a time, and passes each response to `check`. Stops after the first failure. */
    async sendAll(
      requests: readonly HttpRequest[],
      check: (request: HttpRequest, response: TextResponse) => void,
    ): Promise<void> {
      const remaining = requests.values();
      let failure: unknown;
      const work = async () => {
        for (const request of remaining) {
          check(request, await send(request));
          if (failure !== undefined) return;
        }
      };
      const workers = Array.from({ length: CONNECTIONS }, () =>
        work().catch((error: unknown) => {
          failure ??= error;
        }),
      );
      await Promise.all(workers);
      if (failure !== undefined) throw failure;
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}
