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

/** A client that keeps its connections open. */
export function createSender(origin: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const send = ({ method, path, headers = {}, body }: HttpRequest): Promise<TextResponse> =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
      const options = { method, agent, headers: { ...length, ...headers } };
      const sent = request(`${origin}/api/v1`, { ...options, path: `/api/v1${path}` }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
        );
        response.on('error', reject);
      });
      sent.on('error', reject);
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
