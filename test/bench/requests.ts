import { connect, type Socket } from 'node:net';
import { isWhole } from './answer.ts';

/** Sends one request after the other on a connection that it keeps. */
export interface Requests {
  /** The answer's body, as a text. Fails on any other status than the expected one, and when the connection is lost. */
  post(path: string, body: string, status: number): Promise<string>;
  close(): void;
}

const ANSWER_BYTES = 64 * 1_024;
const HEAD_END = '\r\n\r\n';

export function openRequests(port: number): Requests {
  const answer = Buffer.allocUnsafe(ANSWER_BYTES);
  let filled = 0;
  let asked: PromiseWithResolvers<string> | undefined;

  function take(bytes: number, chunk: Uint8Array): boolean {
    answer.set(chunk.subarray(0, bytes), filled);
    filled += bytes;
    if (isWhole(answer, filled)) {
      asked?.resolve(answer.toString('utf8', 0, filled));
      filled = 0;
    }
    return true;
  }

  const socket: Socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: { buffer: Buffer.allocUnsafe(ANSWER_BYTES), callback: take },
  });
  socket.on('error', (error) => asked?.reject(error));
  socket.on('close', () => asked?.reject(new Error('the other side closed a connection')));

  return {
    async post(path, body, status) {
      asked = Promise.withResolvers();
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
      const text = await asked.promise;
      if (!text.startsWith(`HTTP/1.1 ${status} `)) throw new Error(`an answer was not ${status}: ${text}`);
      return text.slice(text.indexOf(HEAD_END) + HEAD_END.length);
    },
    close: () => void socket.destroy(),
  };
}
