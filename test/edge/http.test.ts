import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { exchange, openRaw, parseResponse } from '../support/raw-http.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';
import { expectRefusal, expectSuccess } from './envelope.ts';

const GARBAGE = 'these bytes are no request\r\n\r\n';
const MIB = 1024 * 1024;

describe('HTTP requests over a raw connection', () => {
  let system: System;
  let api: Api;
  let host: string;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    host = new URL(system.url).host;
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const withHost = (line: string, ...lines: string[]) =>
    `${[line, `Host: ${host}`, ...lines].join('\r\n')}\r\n\r\n`;

  it.each([
    ['two different Host headers', () => withHost('GET /livez HTTP/1.1', 'Host: elsewhere.example.com')],
    ['two equal Host headers', () => withHost('GET /livez HTTP/1.1', `hOST: ${host}`)],
    ['two Host headers in HTTP/1.0', () => withHost('GET /livez HTTP/1.0', `Host: ${host}`)],
    ['no Host header in HTTP/1.1', () => 'GET /livez HTTP/1.1\r\n\r\n'],
    ['an absolute target instead of the Host header', () => `GET http://${host}/livez HTTP/1.1\r\n\r\n`],
    [
      'Transfer-Encoding in HTTP/1.0',
      () => `${withHost('POST /api/v1/agents HTTP/1.0', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    ],
    [
      'an unsupported transfer coding in HTTP/1.0',
      () => withHost('POST /api/v1/agents HTTP/1.0', 'Transfer-Encoding: gzip'),
    ],
    [
      'a length before Transfer-Encoding',
      () => withHost('POST /livez HTTP/1.1', 'Content-Length: 1', 'Transfer-Encoding: gzip, chunked'),
    ],
    ['an empty Transfer-Encoding', () => withHost('POST /livez HTTP/1.1', 'Transfer-Encoding:')],
    ['a line feed alone after the version', () => `GET /livez HTTP/1.1\nHost: ${host}\n\n`],
    ['a space after the version', () => withHost('GET /livez HTTP/1.1 ')],
  ])('returns 400 and closes the connection for %s', async (_, request) => {
    const response = await exchange(system.url, request());
    expectRefusal(response, 'INVALID_REQUEST');
    expect(response.headers.get('connection')).toBe('close');
  });

  it('returns 400 for a webhook request with two Host headers', async () => {
    const request = withHost(
      'POST /api/v1/deployments/dep_1/trigger HTTP/1.1',
      'Host: x',
      'Content-Length: 0',
    );
    expectRefusal(await exchange(system.url, request), 'INVALID_REQUEST');
  });

  it.each([
    ['CONNECT', () => 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n'],
    ['CONNECT without a Host header', () => 'CONNECT example.com:443 HTTP/1.0\r\n\r\n'],
    ...[
      'Transfer-Encoding: gzip, chunked',
      'Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked',
      'Transfer-Encoding: gzip',
      'Transfer-Encoding: identity',
      'Transfer-Encoding: chunked, gzip',
      'Transfer-Encoding: chunked, chunked',
      'Transfer-Encoding: chunked;q=1',
    ].map((header): [string, () => string] => [
      JSON.stringify(header),
      () => `${withHost('POST /api/v1/agents HTTP/1.1', 'Content-Type: application/json', header)}0\r\n\r\n`,
    ]),
  ])('returns 501 and closes the connection for %s', async (_, request) => {
    const response = await exchange(system.url, request());
    expectRefusal(response, 'NOT_IMPLEMENTED');
    expect(response.headers.get('connection')).toBe('close');
  });

  it('accepts the transfer coding chunked in any letter case and with empty list members', async () => {
    for (const value of ['chunked', 'CHUNKED', ', chunked']) {
      const body = '{"name": "A", "model": "rehearsal/echo"}';
      const head = withHost(
        'POST /api/v1/agents HTTP/1.1',
        'Content-Type: application/json',
        `Transfer-Encoding: ${value}`,
        'Connection: close',
      );
      const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
      expectSuccess(await exchange(system.url, head + chunks));
    }
  });

  it.each(['HTTP/2.0', 'HTTP/0.9', 'HTTP/1.2', 'HTTP/3.0', 'HTTP/2', 'HTTP/11.1', 'HTTP/1.10'])(
    'returns 505 and closes the connection for the version %s',
    async (version) => {
      const response = await exchange(system.url, withHost(`GET /livez ${version}`));
      expectRefusal(response, 'HTTP_VERSION_NOT_SUPPORTED');
      expect(response.headers.get('connection')).toBe('close');
    },
  );

  it('returns 505 for the preface of HTTP/2', async () => {
    const response = await exchange(system.url, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    expectRefusal(response, 'HTTP_VERSION_NOT_SUPPORTED');
  });

  it('returns the error response when the client sends a body after the refused head', async () => {
    const head = withHost(
      'POST /api/v1/agents HTTP/2.0',
      'Content-Type: application/json',
      `Content-Length: ${MIB}`,
    );
    expectRefusal(await exchange(system.url, head + ' '.repeat(MIB)), 'HTTP_VERSION_NOT_SUPPORTED');
  });

  describe('a valid request followed by bytes that are no request', () => {
    it.each(['HTTP/1.1', 'HTTP/1.0'])(
      'gets its complete response, then the connection closes, %s',
      async (version) => {
        for (let run = 0; run < 10; run++) {
          const response = await exchange(system.url, withHost(`GET /livez ${version}`) + GARBAGE);
          expectSuccess(response);
          expect(response.headers.get('connection')).toBe('close');
        }
      },
    );

    it('gets a response that takes long, while more such bytes arrive', async () => {
      await lockAgents();
      const connection = openRaw(system.url);
      connection.send(withHost('GET /api/v1/agents HTTP/1.1') + GARBAGE);
      for (let i = 0; i < 20; i++) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        connection.send(GARBAGE);
      }
      await unlockAgents();
      const response = parseResponse(await connection.rest());
      expectSuccess(response);
      expect(response.headers.get('connection')).toBe('close');
    });

    it('gets the responses to all requests before these bytes, in order', async () => {
      await lockAgents();
      const connection = openRaw(system.url);
      connection.send(
        withHost('GET /api/v1/agents HTTP/1.1') + withHost('GET /livez HTTP/1.1') + GARBAGE + GARBAGE,
      );
      await unlockAgents();
      const text = await connection.rest();
      const second = text.lastIndexOf('HTTP/1.1 200 OK');
      expectSuccess(parseResponse(text.slice(0, second)));
      expectSuccess(parseResponse(text.slice(second)));
      expect(text.split('HTTP/1.1 ')).toHaveLength(3);
    });

    it('gets all bytes of a large file that the client reads slowly', async () => {
      const session = await newSession();
      const content = Buffer.alloc(24 * MIB, 'x');
      const files = `/api/v1/sessions/${session}/files`;
      const upload = await fetch(`${system.url}${files}/content?path=large`, {
        method: 'PUT',
        body: content,
      });
      expect(upload.status).toBe(201);
      const connection = openRaw(system.url);
      connection.socket.pause();
      connection.send(withHost(`GET ${files}/content?path=large HTTP/1.1`) + GARBAGE);
      await new Promise((resolve) => setTimeout(resolve, 200));
      connection.send(GARBAGE);
      connection.socket.resume();
      const { status, text } = parseResponse(await connection.rest());
      expect({ status, bytes: text.length }).toEqual({ status: 200, bytes: content.length });
    });

    it('gets an event stream until its regular end', async () => {
      const session = await newSession();
      const connection = openRaw(system.url);
      let text = '';
      connection.socket.on('data', (chunk) => {
        text += chunk;
      });
      connection.send(withHost(`GET /api/v1/sessions/${session}/events/stream HTTP/1.1`) + GARBAGE);
      await until('the stream has caught up', () => text.includes('stream.caught_up'));
      connection.send(GARBAGE);
      await api.post(`/sessions/${session}/messages`, { content: 'Hello' });
      await until('the turn is streamed', () => text.includes('event: turn.completed'));
      await api.send('DELETE', `/sessions/${session}`);
      expect(await connection.rest()).toMatch(/event: session\.deleted\n[\s\S]*\r\n0\r\n\r\n$/);
    });

    it('gets its response before the refusal of CONNECT', async () => {
      const connection = openRaw(system.url);
      connection.send(`${withHost('GET /api/v1/agents HTTP/1.1')}CONNECT example.com:443 HTTP/1.1\r\n\r\n`);
      const text = await connection.rest();
      const second = text.lastIndexOf('HTTP/1.1 ');
      expectSuccess(parseResponse(text.slice(0, second)));
      expectRefusal(parseResponse(text.slice(second)), 'NOT_IMPLEMENTED');
    });
  });

  async function newSession(): Promise<string> {
    const { body } = await api.post(`/agents/${await api.createAgent()}/conversations`);
    return String(body.data.session_id);
  }

  let client: pg.Client | undefined;

  /** Makes requests for agents wait until `unlockAgents`. */
  async function lockAgents(): Promise<void> {
    client = new pg.Client({ connectionString: system.databaseUrl });
    await client.connect();
    await client.query('begin');
    await client.query('lock table agents.agents in access exclusive mode');
  }

  async function unlockAgents(): Promise<void> {
    const held = client;
    await until('the request waits for the lock', async () => {
      const found = await held?.query(
        "select from pg_locks where not granted and relation = 'agents.agents'::regclass",
      );
      return (found?.rowCount ?? 0) > 0;
    });
    await held?.query('commit');
    await held?.end();
  }
});
