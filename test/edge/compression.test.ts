import { once } from 'node:events';
import { get, type IncomingMessage, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compressionOf } from '../../edge/plugins/compression.ts';
import { isRaw, type JsonRoute } from '../../edge/route.ts';
import { ROUTES } from '../../edge/routes.ts';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';

interface Received {
  status: number;
  headers: IncomingMessage['headers'];
  bytes: Buffer;
}

let system: System;
let api: Api;
beforeAll(async () => {
  system = await startSystem();
  api = createApi(system.url);
  await api.createAgent({ model: 'rehearsal/echo', system: 'Be brief. '.repeat(500) });
});
afterAll(() => system[Symbol.asyncDispose]());

function send(path: string, headers: Record<string, string>, body?: object): Promise<Received> {
  return new Promise((resolve, reject) => {
    const method = body ? 'POST' : 'GET';
    const type = body ? { 'content-type': 'application/json' } : {};
    const outgoing = request(
      `${system.url}${path}`,
      { method, headers: { ...type, ...headers } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            bytes: Buffer.concat(chunks),
          }),
        );
      },
    );
    outgoing.on('error', reject).end(body && JSON.stringify(body));
  });
}

const firstAgentOf = (agents: unknown[]) => (agents[0] as { agent_id: string }).agent_id;

describe('compression of responses', () => {
  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ])('is %s when the client accepts only that', async (encoding, decompress) => {
    const plain = await send('/api/v1/agents', {});
    const compressed = await send('/api/v1/agents', { 'accept-encoding': encoding });
    expect(compressed.headers).toMatchObject({ 'content-encoding': encoding, vary: 'accept-encoding' });
    expect(compressed.headers.etag).toBe(plain.headers.etag);
    expect(decompress(compressed.bytes).toString()).toBe(plain.bytes.toString());
    expect(compressed.bytes.length).toBeLessThan(plain.bytes.length / 2);
  });

  it.each([
    ['without Accept-Encoding', {}],
    ['for a client that refuses it', { 'accept-encoding': 'identity' }],
    ['for an unknown encoding', { 'accept-encoding': 'compress' }],
  ] as const)('does not happen %s', async (_, headers) => {
    const { status, headers: received } = await send('/api/v1/agents', headers);
    expect(status).toBe(200);
    expect(received['content-encoding']).toBeUndefined();
  });

  it('does not happen for a response below 1 KiB', async () => {
    const { headers } = await send('/api/v1/sessions', { 'accept-encoding': 'gzip' });
    expect(headers['content-encoding']).toBeUndefined();
  });

  it('never happens for a response with a secret', async () => {
    const { body } = await api.get('/agents');
    const agentId = firstAgentOf(body.data);
    const webhook = { type: 'webhook', prompt_prefix: 'x'.repeat(4_000) };
    const path = `/api/v1/admin/agents/${agentId}/deployments`;
    const { status, headers, bytes } = await send(path, { 'accept-encoding': 'gzip, br' }, webhook);
    expect(status).toBe(201);
    expect(bytes.length).toBeGreaterThan(4_000);
    expect(headers['content-encoding']).toBeUndefined();
  });

  it('includes the response of an upload', async () => {
    const { body } = await api.get('/agents');
    const { session_id } = (await api.post(`/agents/${firstAgentOf(body.data)}/conversations`, {})).body.data;
    const form = new FormData();
    for (let file = 0; file < 20; file++) form.append('files', new Blob(['text']), `file-${file}.txt`);
    const response = await fetch(`${system.url}/api/v1/sessions/${session_id}/files`, {
      method: 'POST',
      headers: { 'accept-encoding': 'gzip' },
      body: form,
    });
    expect(response.status).toBe(201);
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(await response.json()).toMatchObject({ data: { entries: { length: 20 } } });
  });

  it('is off for every route whose response contains a value that is returned only once', () => {
    const jsonRoutes = ROUTES.filter((route): route is JsonRoute => !isRaw(route));
    const idsOf = (routes: typeof jsonRoutes) => routes.map(({ operationId }) => operationId);
    const withSecret = jsonRoutes.filter(({ success }) =>
      /returned only once/.test(JSON.stringify(success.data)),
    );
    expect(idsOf(withSecret)).toEqual(expect.arrayContaining(['createToken', 'createDeployment']));
    expect(idsOf(jsonRoutes.filter((route) => compressionOf(route) === false))).toEqual(idsOf(withSecret));
  });

  it('does not happen for an event stream, whose events arrive while it is open', async () => {
    const agent = await api.createAgent({ model: 'rehearsal/echo' });
    const { body } = await api.post(`/agents/${agent}/conversations`);
    const headers = { 'accept-encoding': 'gzip, br' };
    const url = `${system.url}/api/v1/sessions/${body.data.session_id}/events/stream`;
    const [response] = (await once(get(url, { headers }), 'response')) as [IncomingMessage];
    expect(response.headers['content-encoding']).toBeUndefined();
    let text = '';
    for await (const chunk of response) {
      text += chunk;
      if (text.includes('event: session.created')) break;
    }
    expect(text).toContain('event: session.created');
  });

  it('includes the OpenAPI document', async () => {
    const { headers } = await send('/openapi.json', { 'accept-encoding': 'br' });
    expect(headers['content-encoding']).toBe('br');
  });
});

describe('the entity tag of a list', () => {
  it('answers If-None-Match with 304 as long as the page is the same', async () => {
    const { headers } = await send('/api/v1/agents', {});
    const tag = String(headers.etag);
    expect(tag).toMatch(/^W\/"[\w-]{22}"$/);
    for (const known of [tag, `"other", ${tag}`, tag.slice(2)]) {
      const same = await send('/api/v1/agents', { 'if-none-match': known });
      expect(same).toMatchObject({ status: 304, headers: { etag: tag } });
      expect(same.bytes.length).toBe(0);
    }
    await api.createAgent({ model: 'rehearsal/echo' });
    const changed = await send('/api/v1/agents', { 'if-none-match': tag });
    expect(changed.status).toBe(200);
    expect(changed.headers.etag).not.toBe(tag);
  });

  it('differs for another page and filter', async () => {
    const tags = await Promise.all(
      ['/api/v1/agents', '/api/v1/agents?limit=1', '/api/v1/agents?q=nothing'].map(
        async (path) => (await send(path, {})).headers.etag,
      ),
    );
    expect(new Set(tags).size).toBe(3);
  });
});

describe('the entity tag of a version', () => {
  it('answers If-None-Match with 304', async () => {
    const { body } = await api.get('/agents');
    const agentId = firstAgentOf(body.data);
    const { headers } = await send(`/api/v1/agents/${agentId}`, {});
    const same = await send(`/api/v1/agents/${agentId}`, { 'if-none-match': String(headers.etag) });
    expect(same.status).toBe(304);
  });
});
