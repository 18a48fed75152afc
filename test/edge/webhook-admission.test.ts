import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refuseConnect } from '../../edge/plugins/malformed-request.ts';
import { admitWebhooks } from '../../edge/plugins/webhook-admission.ts';
import { createIds } from '../../lib/ids.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { captureLog } from '../support/captured-log.ts';
import { createFakeClock } from '../support/clock.ts';
import { openRaw, parseResponse } from '../support/raw-http.ts';
import { until } from '../support/wait.ts';
import { expectRefusal } from './envelope.ts';

const TRIGGER = '/api/v1/deployments/dep_1/trigger';
const UNANSWERED = '/unanswered';

describe('webhook requests of an overloaded process', () => {
  let clock: ReturnType<typeof createFakeClock>;
  let metrics: ReturnType<typeof createMetrics>;
  let server: Server;
  let url: string;
  let running: number;
  let isOverloaded: boolean;
  let passedOn: string[];
  let lines: ReturnType<typeof captureLog>['lines'];
  beforeEach(async () => {
    [running, isOverloaded, passedOn] = [0, true, []];
    clock = createFakeClock();
    metrics = createMetrics();
    const captured = captureLog();
    lines = captured.lines;
    const admission = {
      running: 0,
      enter() {
        if (isOverloaded) return undefined;
        running++;
        return () => void running--;
      },
    };
    server = createServer((request, response) => {
      let code = 'admitted';
      try {
        admitted.check(request);
      } catch {
        code = 'refused';
      }
      passedOn.push(code);
      if (request.url === UNANSWERED) return;
      response.end(code);
    });
    const admitted = admitWebhooks(
      server,
      { clock, ids: createIds(clock), log: captured.log, metrics },
      admission,
    );
    refuseConnect(server, new WeakMap(), () => '');
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const connections = () =>
    new Promise<number>((resolve, reject) =>
      server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );

  /** The number of refused requests. */
  async function refusals(): Promise<number> {
    const [, count = '0'] = /refusals_total\{queue="edge.webhooks"\} (\d+)/.exec(await metrics.text()) ?? [];
    return Number(count);
  }

  const post = (body: string) =>
    `POST ${TRIGGER} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

  it('are refused after half a second with 503 and Retry-After on a connection that stays open', async () => {
    const { socket, send } = openRaw(url);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    for (let count = 1; count <= 2; count++) {
      text = '';
      send(post('x'.repeat(1_024)));
      await until('the request is refused', async () => (await refusals()) === count);
      expect(text).toBe('');
      clock.advance(500);
      await until('the response has arrived', () => text.endsWith('}'));
      const response = parseResponse(text);
      expectRefusal(response, 'DEPENDENCY_UNAVAILABLE');
      const seconds = JSON.parse(response.text).data.retry_after_seconds;
      expect(response.headers.get('retry-after')).toBe(String(seconds));
      expect([1, 2, 3, 4]).toContain(seconds);
    }
    expect(passedOn).toEqual([]);
    socket.destroy();
  });

  it('are logged as one line for the refusals of a second', async () => {
    const { socket, send } = openRaw(url);
    send(post('x'));
    await until('the request is refused', async () => (await refusals()) === 1);
    const other = openRaw(url);
    other.send(post('x'));
    await until('the other request is refused', async () => (await refusals()) === 2);
    expect(lines).toEqual([]);
    clock.advance(1_000);
    expect(lines.map(({ requests }) => requests)).toEqual([2]);
    for (const one of [socket, other.socket]) one.destroy();
  });

  it('are refused at once while 10,000 refusals wait', async () => {
    const waiting = openRaw(url);
    waiting.send(post('x').repeat(10_000));
    await until('the requests are refused', async () => (await refusals()) === 10_000);
    const response = await fetch(url + TRIGGER, { method: 'POST', body: 'x' });
    expect(response.status).toBe(503);
    waiting.socket.destroy();
  });

  it('may be given up by their sender before the refusal', async () => {
    const { socket, send } = openRaw(url);
    send(post('x'));
    await until('the request is refused', async () => (await refusals()) === 1);
    socket.destroy();
    await until('the connection is closed', async () => (await connections()) === 0);
    clock.advance(500);
    expect(await (await fetch(`${url}/readyz`)).text()).toBe('admitted');
  });

  it('are refused by the framework when their body is long', async () => {
    const response = await fetch(url + TRIGGER, { method: 'POST', body: 'x'.repeat(100_000) });
    expect(await response.text()).toBe('refused');
  });

  it.each([
    ['in absolute form', `http://a${TRIGGER}`],
    ['in absolute form with another case and port', `HTTPS://a:1${TRIGGER}?x=1`],
    ['percent-encoded', '/api/v1/deployments/dep_1/%74rigger'],
    ['with a fragment', `${TRIGGER}#x`],
  ])('are refused with a target %s', async (_, target) => {
    const { socket, send } = openRaw(url);
    send(`POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx`);
    await until('the request is refused', async () => (await refusals()) === 1);
    expect(passedOn).toEqual([]);
    socket.destroy();
  });

  it('are other requests when the target is malformed', async () => {
    for (const target of ['http://a/%zz/trigger', '/api/v1/deployments/dep_1/%ff', `/x?http://a${TRIGGER}`]) {
      const { socket, send, rest } = openRaw(url);
      send(`POST ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx`);
      expect(parseResponse(await rest()).text, target).toBe('admitted');
      socket.destroy();
    }
  });

  it('leave other requests alone', async () => {
    expect(await (await fetch(`${url}/readyz`)).text()).toBe('admitted');
    expect(await (await fetch(url + TRIGGER)).text()).toBe('admitted');
  });

  it('run until their response ends when they are admitted', async () => {
    isOverloaded = false;
    expect(await (await fetch(url + TRIGGER, { method: 'POST', body: 'x' })).text()).toBe('admitted');
    await until('the request has ended', () => running === 0);
  });

  it('end with their connection when they wait behind another response, before a CONNECT', async () => {
    isOverloaded = false;
    const { socket, send } = openRaw(url);
    const head = (line: string) => `${line} HTTP/1.1\r\nHost: a\r\n\r\n`;
    send(head(`GET ${UNANSWERED}`) + post('x') + post('x') + head('CONNECT example.com:443'));
    await until('the requests have been read', () => passedOn.length === 3);
    socket.destroy();
    await until('the requests have ended', () => running === 0);
  });
});
