import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConnectionLimit } from '../../edge/plugins/connection-limit.ts';
import { openRaw, parseResponse } from '../support/raw-http.ts';
import { until } from '../support/wait.ts';

/** 11 connections are permitted, requests on the 12th are refused, and the 13th is closed. */
const OPEN_FILES = 13.9;
const PERMITTED = 11;
const ACCEPTED = 12;

describe('ConnectionLimit', () => {
  let app: FastifyInstance;
  let url: string;
  let connections: ReturnType<typeof openRaw>[];
  beforeEach(async () => {
    connections = [];
    app = Fastify();
    const limit = new ConnectionLimit(app.server, OPEN_FILES);
    app.addHook('onRequest', async (request, reply) => limit.check(request, reply));
    app.setErrorHandler(
      (error: Error & { code?: string }, _, reply) => void reply.code(503).send(error.code),
    );
    for (const path of ['/livez', '/other']) app.get(path, async () => 'ok');
    await app.listen({ host: '127.0.0.1', port: 0 });
    url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    for (const { socket } of connections) socket.destroy();
    await app.close();
  });

  async function open() {
    const connection = openRaw(url);
    connections.push(connection);
    await once(connection.socket, 'connect');
    return connection;
  }

  /** Sends a request and returns the response so far. */
  async function request(connection: ReturnType<typeof openRaw>, path: string) {
    let text = '';
    connection.socket.on('data', (chunk) => {
      text += chunk;
    });
    connection.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await until('the response has arrived', () => text.includes('\r\n\r\n') || connection.socket.destroyed);
    return parseResponse(text);
  }

  it('refuses requests on connections above the limit, and serves others and health checks', async () => {
    const first = await open();
    while (connections.length < PERMITTED) await open();
    expect((await request(first, '/other')).status).toBe(200);
    const excess = await open();
    expect((await request(excess, '/livez')).status).toBe(200);
    const refused = await request(excess, '/other');
    expect([refused.status, refused.text]).toEqual([503, 'DEPENDENCY_UNAVAILABLE']);
    expect(refused.headers.get('connection')).toBe('close');
    await excess.rest();
    expect((await request(first, '/other')).status).toBe(200);
  });

  it('closes further connections, and serves new ones when others have ended', async () => {
    while (connections.length < ACCEPTED) await open();
    const dropped = await open();
    expect(await dropped.rest()).toBe('');
    for (const { socket } of connections) socket.destroy();
    const status = await until('a connection is served', async () => {
      const { status } = await request(await open(), '/other');
      return status === 200 && status;
    });
    expect(status).toBe(200);
  });
});
