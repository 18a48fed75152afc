import { connect, type Socket } from 'node:net';
import { isComplete } from './http-response.ts';

/** Sends requests one after another on a keep-alive connection. */
interface Requests {
  /** Returns the response body. Fails on another status than expected, and when the connection closes. */
  post(path: string, body: string, status: number): Promise<string>;
  close(): void;
}

const ANSWER_BYTES = 64 * 1_024;
const HEAD_END = '\r\n\r\n';

export function openRequests(port: number): Requests {
  const answer = Buffer.allocUnsafe(ANSWER_BYTES);
  let filled = 0;
  let pending: PromiseWithResolvers<string> | undefined;

  function receive(bytes: number, chunk: Uint8Array): boolean {
    answer.set(chunk.subarray(0, bytes), filled);
    filled += bytes;
    if (isComplete(answer, filled)) {
      pending?.resolve(answer.toString('utf8', 0, filled));
      filled = 0;
    }
    return true;
  }

  const socket: Socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: { buffer: Buffer.allocUnsafe(ANSWER_BYTES), callback: receive },
  });
  socket.on('error', (error) => pending?.reject(error));
  socket.on('close', () => pending?.reject(new Error('the server closed a connection')));

  return {
    async post(path, body, status) {
      pending = Promise.withResolvers();
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
      const text = await pending.promise;
      if (!text.startsWith(`HTTP/1.1 ${status} `)) throw new Error(`an answer was not ${status}: ${text}`);
      return text.slice(text.indexOf(HEAD_END) + HEAD_END.length);
    },
    close: () => void socket.destroy(),
  };
}
