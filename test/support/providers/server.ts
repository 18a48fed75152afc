import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Answer, frame, type Refusal, type Speech, type Wire } from './wire.ts';

export interface ProviderRequest {
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
}

/** A model provider on a port of its own. */
export interface ProviderServer extends AsyncDisposable {
  url: string;
  /** What it was asked, in order. */
  requests: ProviderRequest[];
  /** How many of its answers nobody heard to the end. */
  readonly left: number;
  /** The next answers, one for each request. */
  answers(...answers: Answer[]): void;
}

export async function openProvider(wire: Wire): Promise<ProviderServer> {
  const queue: Answer[] = [];
  const requests: ProviderRequest[] = [];
  let left = 0;

  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request));
    requests.push({ path: request.url ?? '', headers: request.headers, body });
    const answer = queue.shift();
    if (answer === undefined || request.url !== wire.path) {
      response.writeHead(404).end('{}');
    } else if (answer === 'reset') {
      request.socket.destroy();
    } else if ('status' in answer) {
      refuse(answer, response);
    } else {
      response.on('close', () => {
        if (!response.writableEnded && answer.trouble !== 'cut') left++;
      });
      await speak(answer, response);
    }
  });

  function refuse(refusal: Refusal, response: ServerResponse): void {
    response.writeHead(refusal.status, { 'content-type': 'application/json', ...refusal.headers });
    response.end(JSON.stringify(wire.refusal(refusal)));
  }

  async function speak(speech: Speech, response: ServerResponse): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': 'req_test' });
    for (const one of wire.beginning(speech)) await write(response, one);
    switch (speech.trouble) {
      case undefined:
        for (const one of wire.ending(speech)) await write(response, one);
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
        await write(response, wire.trouble(speech.trouble));
        response.end();
    }
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get left() {
      return left;
    },
    answers: (...answers) => void queue.push(...answers),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** In two parts, which may end in the middle of a character. */
async function write(response: ServerResponse, frame: string): Promise<void> {
  const bytes = Buffer.from(frame);
  const middle = Math.ceil(bytes.length / 2);
  for (const part of [bytes.subarray(0, middle), bytes.subarray(middle)]) {
    if (!response.destroyed) await new Promise<void>((done) => void response.write(part, () => done()));
  }
}
