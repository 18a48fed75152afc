import { connect } from 'node:net';

/** An answer as a stream of Server-Sent Events. */
export interface StreamedAnswer {
  /** The JSON objects of its events. */
  objects: string[];
  /** Times after the request was sent. */
  firstTokenMs: number;
  endMs: number;
}

/** Requests streams one after another on a keep-alive connection. */
export interface StreamedAnswers {
  /** `token` is part of every object with text and of no other. Fails on another status than 200, and when the connection closes. */
  post(path: string, body: string, token: string): Promise<StreamedAnswer>;
  close(): void;
}

const OK = 'HTTP/1.1 200 ';
/** The last chunk of a response. */
const END = '\r\n0\r\n\r\n';
/** The service writes each event as a whole, so that no chunk of the response begins within one. */
const OBJECT = /^data: (\{.*\})$/gm;

export function openStreamedAnswers(port: number): StreamedAnswers {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let text = '';
  let read: () => void = () => {};
  let fail: (error: Error) => void = () => {};
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    text += chunk;
    read();
  });
  socket.on('error', (error) => fail(error));
  socket.on('close', () => fail(new Error('the server closed a connection')));

  return {
    async post(path, body, token) {
      const answer = Promise.withResolvers<StreamedAnswer>();
      const sentAt = performance.now();
      let firstTokenMs: number | undefined;
      text = '';
      fail = answer.reject;
      read = () => {
        if (firstTokenMs === undefined && text.includes(token)) firstTokenMs = performance.now() - sentAt;
        const isRefused = text.length >= OK.length && !text.startsWith(OK);
        if (isRefused || (text.endsWith(END) && firstTokenMs === undefined))
          answer.reject(new Error(`no stream with text: ${text.slice(0, 1_000)}`));
        else if (text.endsWith(END) && firstTokenMs !== undefined) {
          const objects = Array.from(text.matchAll(OBJECT), ([, json = '']) => json);
          answer.resolve({ objects, firstTokenMs, endMs: performance.now() - sentAt });
        }
      };
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
      return await answer.promise;
    },
    close: () => void socket.destroy(),
  };
}
