import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  type ErrorResponse,
  type Frame,
  frame,
  type ProviderProtocol,
  type ScriptedResponse,
  type StreamedResponse,
} from './protocol.ts';

export interface ProviderRequest {
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
}

/** A fake model provider on its own port. */
export interface ProviderServer extends AsyncDisposable {
  url: string;
  /** The received requests, in order. */
  requests: ProviderRequest[];
  /** The bodies of requests for access tokens. */
  tokenRequests: string[];
  /** Number of responses that the client closed before their end. */
  readonly abandonedResponses: number;
  /** Appends the responses of the next requests. */
  enqueue(...responses: ScriptedResponse[]): void;
}

export async function openProvider(protocol: ProviderProtocol): Promise<ProviderServer> {
  const queue: ScriptedResponse[] = [];
  const requests: ProviderRequest[] = [];
  const tokenRequests: string[] = [];
  let left = 0;

  const server = createServer(async (request, response) => {
    const received = await text(request);
    const { tokens } = protocol;
    if (tokens && request.url === tokens.path) {
      tokenRequests.push(received);
      response.writeHead(tokens.status ?? 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(tokens.answer));
      return;
    }
    const body = JSON.parse(received);
    requests.push({ path: request.url ?? '', headers: request.headers, body });
    const problem = request.url === protocol.path ? protocol.problem(body) : undefined;
    const scripted = queue.shift();
    if (problem !== undefined) {
      refuse({ status: 400, kind: 'invalid_request_error', message: problem }, response);
    } else if (scripted === undefined || request.url !== protocol.path) {
      response.writeHead(404).end('{}');
    } else if (scripted === 'reset') {
      request.socket.destroy();
    } else if ('status' in scripted) {
      refuse(scripted, response);
    } else {
      response.on('close', () => {
        if (!response.writableEnded && scripted.fault !== 'cut') left++;
      });
      await respond(scripted, response);
    }
  });

  function refuse(error: ErrorResponse, response: ServerResponse): void {
    response.writeHead(error.status, { 'content-type': 'application/json', ...error.headers });
    response.end(JSON.stringify(protocol.errorBody(error)));
  }

  async function respond(scripted: StreamedResponse, response: ServerResponse): Promise<void> {
    response.writeHead(200, {
      'content-type': protocol.contentType ?? 'text/event-stream',
      'request-id': 'req_test',
    });
    for (const one of protocol.streamStart(scripted)) await write(response, one);
    switch (scripted.fault) {
      case undefined:
        for (const one of protocol.streamEnd(scripted)) await write(response, one);
        response.end();
        break;
      case 'cut':
        response.socket?.destroy();
        break;
      case 'end':
        response.end();
        break;
      case 'garbled':
        response.end(frame('{"type": "response.output_text.delta", "choices": [{'));
        break;
      case 'silence':
        break;
      default:
        await write(response, protocol.streamError(scripted.fault));
        response.end();
    }
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    tokenRequests,
    get abandonedResponses() {
      return left;
    },
    enqueue: (...answers) => void queue.push(...answers),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Writes in two parts, which may divide a character. */
async function write(response: ServerResponse, frame: Frame): Promise<void> {
  const bytes = typeof frame === 'string' ? Buffer.from(frame) : frame;
  const middle = Math.ceil(bytes.length / 2);
  for (const part of [bytes.subarray(0, middle), bytes.subarray(middle)]) {
    if (!response.destroyed) await new Promise<void>((done) => void response.write(part, () => done()));
  }
}
