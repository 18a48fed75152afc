import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FileFixture, openFileFixture } from './files/fixture.ts';

const BODY_BYTES = 24 * 1024 * 1024;

describe('an error response to a request whose body is still arriving', () => {
  let fixture: FileFixture;
  beforeAll(async () => {
    fixture = await openFileFixture();
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  /** Writes the complete request before it reads, like Python's urllib. Rejects when the connection breaks. */
  function sendThenRead(head: string[], body: Buffer): Promise<string> {
    const { hostname, port, host } = new URL(fixture.url);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      const chunks: Buffer[] = [];
      socket.pause();
      socket.on('error', reject);
      socket.write(`${[...head, `Host: ${host}`, 'Connection: close'].join('\r\n')}\r\n\r\n`);
      socket.write(body, () => {
        socket.on('data', (chunk) => chunks.push(chunk));
        socket.on('end', () => resolve(Buffer.concat(chunks).toString()));
        socket.resume();
      });
    });
  }

  it.each([
    ['a JSON body above the limit', 'POST /api/v1/agents HTTP/1.1', '413', 'PAYLOAD_TOO_LARGE'],
    ['a request to an unknown path', 'POST /api/v1/unknown HTTP/1.1', '404', 'ROUTE_NOT_FOUND'],
  ])(
    'reaches a client with Connection: close that reads after writing: %s',
    async (_, line, status, code) => {
      for (let run = 0; run < 5; run++) {
        const head = [line, 'Content-Type: application/json', `Content-Length: ${BODY_BYTES}`];
        const response = await sendThenRead(head, Buffer.alloc(BODY_BYTES, ' '));
        expect(response).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
        expect(response).toContain(`"code":"${code}"`);
      }
    },
  );

  it('reaches a client that sends an unlimited chunked body, and the connection is closed', async () => {
    const { hostname, port, host } = new URL(fixture.url);
    const chunk = `100000\r\n${' '.repeat(0x100000)}\r\n`;
    const socket = connect(Number(port), hostname);
    let received = '';
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    socket.on('error', () => {});
    socket.on('data', (data) => {
      received += data;
    });
    socket.write(
      `POST /api/v1/agents HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n` +
        'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    let sent = 0;
    const send = () => {
      while (!socket.destroyed && socket.writable) {
        sent++;
        if (!socket.write(chunk)) return;
      }
    };
    socket.on('drain', send);
    send();
    await closed;
    expect(received).toMatch(/^HTTP\/1.1 413 /);
    expect(sent).toBeLessThan(400);
  });
});
