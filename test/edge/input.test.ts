import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { exchange } from '../support/raw-http.ts';
import { type System, startSystem } from '../support/system.ts';
import { expectRefusal, expectSuccess, readResponse } from './envelope.ts';

const MIB = 1024 * 1024;

describe('request validation', () => {
  let system: System;
  let api: Api;
  let host: string;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    host = new URL(system.url).host;
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const request = async (path: string, init: RequestInit = {}) =>
    readResponse(await fetch(system.url + path, init));
  const wire = (lines: string[], body = '') =>
    exchange(system.url, `${[...lines, `Host: ${host}`, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`);

  describe('the media type of a JSON body', () => {
    const send = (
      type: string | undefined,
      body = '{"name": "A", "model": "rehearsal/echo"}',
      more: string[] = [],
    ) =>
      wire(
        [
          'POST /api/v1/agents HTTP/1.1',
          ...(type === undefined ? [] : [`Content-Type:${type}`]),
          `Content-Length: ${body.length}`,
          ...more,
        ],
        body,
      );

    it.each([
      'application/json',
      ' application/json',
      '\t application/json \t',
      ' APPLICATION/JSON',
      ' application/json; charset=utf-8',
      ' application/json;charset=UTF-8',
      ' application/json; charset="utf-8"',
    ])('accepts %j', async (type) => {
      expect((await send(type)).status).toBe(201);
    });

    it.each([
      undefined,
      '',
      ' text/plain',
      ' application/x-www-form-urlencoded',
      ' application/json\t, text/plain',
      ' application/jsonp',
      ' application/json/x',
      ' application/vnd.api+json',
      ' application/json; charset=utf-16',
      ' application/json; charset=utf-8; x=y',
      ' application/json; boundary=x',
      ' application/ json',
      ' application/json\u00a0',
      ' ;;;',
    ])('refuses %j', async (type) => {
      expectRefusal(await send(type), 'UNSUPPORTED_MEDIA_TYPE');
    });

    it('must be given once, without a Content-Encoding', async () => {
      const again = ['Content-Type: application/json'];
      expectRefusal(await send(' application/json', undefined, again), 'UNSUPPORTED_MEDIA_TYPE');
      const zipped = ['Content-Encoding: gzip'];
      expectRefusal(await send(' application/json', undefined, zipped), 'UNSUPPORTED_MEDIA_TYPE');
    });

    it('is ignored on routes without a body', async () => {
      const line = `DELETE /api/v1/agents/${await api.createAgent()} HTTP/1.1`;
      expect((await wire([line, 'Content-Type: ;;;', 'Content-Length: 2'], '{]')).status).toBe(200);
    });
  });

  describe('a JSON body', () => {
    const post = (
      body: NonNullable<RequestInit['body']>,
      path = '/agents',
      headers: Record<string, string> = {},
    ) =>
      request(`/api/v1${path}`, {
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/json', ...headers },
        ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
      } as RequestInit);
    const pointers = (details: { pointer: string }[]) => details.map(({ pointer }) => pointer).sort();

    it.each([
      '',
      ' ',
      '{',
      '{]',
      '{"name": "A", "model": "rehearsal/echo"',
      "{'name': 'A'}",
      '{"name": "A",}',
      '{"a": 01}',
      '{"a": NaN}',
      '{"a": "\t"}',
      '/**/{}',
      'undefined',
      '{} {}',
      `${'['.repeat(200_000)}`,
      `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`,
    ])('refuses invalid JSON: %.30j', async (body) => {
      expectRefusal(await post(body), 'INVALID_REQUEST');
    });

    it.each(['null', '[]', '"text"', '1', 'true'])('refuses %s, which is not an object', async (body) => {
      expect(pointers(expectRefusal(await post(body), 'INVALID_REQUEST'))).toEqual(['']);
    });

    it('refuses bytes that are not UTF-8', async () => {
      expectRefusal(await post(new Uint8Array([0x7b, 0xff, 0x7d])), 'INVALID_REQUEST');
      expectRefusal(
        await post(new Uint8Array(Buffer.from('{"name":"Gr\xfc\xdfe"}', 'latin1'))),
        'INVALID_REQUEST',
      );
      expectRefusal(await post(new Uint8Array(Buffer.from('{"name":"A"}', 'utf16le'))), 'INVALID_REQUEST');
    });

    it.each([
      ['NUL, escaped', '{"name": "a\\u0000", "model": "rehearsal/echo"}', ['/name']],
      [
        'a lone surrogate, escaped',
        '{"name": "A", "model": "rehearsal/echo", "metadata": {"k": "\\ud800"}}',
        ['/metadata/k'],
      ],
      ['halves in the wrong order', '{"name": "\\udc00\\ud800", "model": "rehearsal/echo"}', ['/name']],
      ['in a name', '{"name": "A", "model": "rehearsal/echo", "metadata": {"\\u0000": "v"}}', ['/metadata']],
      [
        'deep inside',
        '{"name": "A", "model": "x/y", "model_options": {"a": [1, {"b/c~": "\\u0000"}]}}',
        ['/model_options/a/1/b~1c~0'],
      ],
      ['NUL as it is', '{"name": "a\0", "model": "rehearsal/echo"}', ['/name']],
      [
        'an encoded surrogate',
        Buffer.from('{"name": "a\xed\xa0\x80", "model": "rehearsal/echo"}', 'latin1'),
        ['/name'],
      ],
      ['several', '{"name": "\\u0000", "model": "\\u0000"}', ['/model', '/name']],
    ])('refuses text that cannot be stored, with its pointer: %s', async (_, body, expected) => {
      const bytes = typeof body === 'string' ? body : new Uint8Array(body);
      expect(pointers(expectRefusal(await post(bytes), 'INVALID_TEXT'))).toEqual(expected);
    });

    it('accepts all other characters', async () => {
      const name = '\u0001\u001f"\\\ufeff\ufffe\uffff\u2028👋🏽';
      const answer = await api.post('/agents', { name, model: 'rehearsal/echo' });
      expect(answer.body.data.name).toBe(name);
    });

    it.each([
      ['{"name": "A", "name": "B", "model": "rehearsal/echo"}', '/name'],
      ['{"name": "A", "n\\u0061me": "B", "model": "rehearsal/echo"}', '/name'],
      ['{"metadata": {"a": "1", "b": "2", "a": "3"}}', '/metadata/a'],
      ['{"__proto__": {"name": "A"}}', '/__proto__'],
      ['{"metadata": {"__proto__": "x"}}', '/metadata/__proto__'],
      ['{"\\u005f_proto__": 1}', '/__proto__'],
    ])('refuses ambiguous JSON: %s', async (body, pointer) => {
      expect(pointers(expectRefusal(await post(body), 'INVALID_REQUEST'))).toEqual([pointer]);
    });

    it('reports all problems at once', async () => {
      const response = await post(
        JSON.stringify({
          nam: 'A',
          model: 7,
          enabled: 'true',
          max_steps: '3',
          metadata: { a: 1 },
          'x/~y': 1,
        }),
      );
      expect(pointers(expectRefusal(response, 'INVALID_REQUEST'))).toEqual(
        ['/name', '/nam', '/model', '/enabled', '/max_steps', '/metadata/a', '/x~1~0y'].sort(),
      );
    });

    it.each([
      [{ name: 5 }, '/name'],
      [{ name: true }, '/name'],
      [{ name: ['A'] }, '/name'],
      [{ name: null }, '/name'],
      [{ enabled: 1 }, '/enabled'],
      [{ enabled: 'false' }, '/enabled'],
      [{ max_steps: '5' }, '/max_steps'],
      [{ max_steps: 1.5 }, '/max_steps'],
      [{ max_steps: true }, '/max_steps'],
      [{ visibility: 'PUBLIC' }, '/visibility'],
      [{ metadata: [] }, '/metadata'],
      [{ metadata: { a: 1 } }, '/metadata/a'],
      [{ constructor: 1 }, '/constructor'],
      [{ toString: 1 }, '/toString'],
    ])('does not convert values: %j', async (members, pointer) => {
      const body = { name: 'A', model: 'rehearsal/echo', ...members };
      expect(pointers(expectRefusal(await post(JSON.stringify(body)), 'INVALID_REQUEST'))).toEqual([pointer]);
    });

    it('returns 413 above 1 MiB, with and without Content-Length', async () => {
      const fitting = `{"name": "A", "model": "rehearsal/echo"}`;
      expect((await post(fitting.padEnd(MIB, ' '))).status).toBe(201);
      expectRefusal(await post(fitting.padEnd(MIB + 1, ' ')), 'PAYLOAD_TOO_LARGE');
      expectRefusal(await post(fitting.padEnd(8 * MIB, ' ')), 'PAYLOAD_TOO_LARGE');
      const chunks = new ReadableStream({
        start(controller) {
          for (let i = 0; i < 5; i++) controller.enqueue(new Uint8Array(MIB / 4).fill(0x20));
          controller.close();
        },
      });
      expectRefusal(await post(chunks), 'PAYLOAD_TOO_LARGE');
    });

    it('accepts a message of 10 MiB', async () => {
      const agent = await api.createAgent();
      const path = `/agents/${agent}/conversations`;
      const body = '{"title": "A"}';
      expect((await post(body.padEnd(10 * MIB, ' '), path)).status).toBe(201);
      expectRefusal(await post(body.padEnd(10 * MIB + 1, ' '), path), 'PAYLOAD_TOO_LARGE');
    });

    it('can be omitted if all members are optional', async () => {
      const agent = await api.createAgent();
      const response = await request(`/api/v1/agents/${agent}/conversations`, { method: 'POST' });
      expect(response.status).toBe(201);
      expectSuccess(response);
    });
  });

  describe('the query of a list', () => {
    it.each([
      ['limit=0', '/limit'],
      ['limit=101', '/limit'],
      ['limit=abc', '/limit'],
      ['limit=', '/limit'],
      ['limit=1e1', '/limit'],
      ['limit=5.0', '/limit'],
      ['limit=+5', '/limit'],
      ['limit=%205', '/limit'],
      ['limit=99999999999999999999', '/limit'],
      ['limit=5&limit=6', '/limit'],
      ['limit[]=5', '/limit[]'],
      ['Limit=5', '/Limit'],
      ['unknown=1', '/unknown'],
      ['__proto__=1', '/__proto__'],
      ['a/b=1', '/a~1b'],
      [`q=${'x'.repeat(201)}`, '/q'],
      [`cursor=${'x'.repeat(2001)}`, '/cursor'],
    ])('refuses %.40s with the name of the parameter', async (query, pointer) => {
      const details = expectRefusal(await request(`/api/v1/agents?${query}`), 'INVALID_REQUEST');
      expect(details.map((one) => one.pointer)).toEqual([pointer]);
    });

    it('accepts a parameter several times if it can have several values', async () => {
      for (const query of ['state=failed', 'state=running&state=queued', 'state=failed&state=failed'])
        expect((await request(`/api/v1/sessions?${query}`)).status).toBe(200);
    });

    it('refuses an unknown value among several', async () => {
      const response = await request('/api/v1/sessions?state=failed&state=new');
      const details = expectRefusal(response, 'INVALID_REQUEST');
      expect(details.map((one) => one.pointer)).toEqual(['/state/1']);
    });

    it('reports all problems', async () => {
      const details = expectRefusal(
        await request('/api/v1/sessions?limit=0&status=x&archived=1&no=1'),
        'INVALID_REQUEST',
      );
      expect(details.map((one) => one.pointer).sort()).toEqual(['/archived', '/limit', '/no', '/status']);
    });

    it('refuses NUL characters with INVALID_TEXT', async () => {
      const details = expectRefusal(await request('/api/v1/agents?q=a%00b'), 'INVALID_TEXT');
      expect(details.map((one) => one.pointer)).toEqual(['/q']);
    });

    it('treats percent signs and wildcards as text', async () => {
      for (const q of ['%25', '_', '%', '%zz', '%ff', '\\', "'", '%E2%80'])
        expect((await request(`/api/v1/agents?q=${q}`)).status).toBe(200);
    });

    it('accepts a cursor only for the same list and filters', async () => {
      await Promise.all([api.createAgent(), api.createAgent()]);
      const first = await api.get('/agents?limit=1');
      const cursor = first.body.page?.next_cursor ?? '';
      expect((await request(`/api/v1/agents?limit=1&cursor=${cursor}`)).status).toBe(200);
      for (const path of [
        `/agents?q=E&cursor=${cursor}`,
        `/sessions?cursor=${cursor}`,
        `/admin/deployments?cursor=${cursor}`,
      ])
        expectRefusal(await request(`/api/v1${path}`), 'INVALID_CURSOR');
      for (const bad of [
        'x',
        '0',
        `${cursor}x`,
        cursor.slice(1),
        'bnVsbA',
        'W10',
        'e30',
        '%00'.replace('%00', '..'),
      ])
        expectRefusal(await request(`/api/v1/agents?cursor=${bad}`), 'INVALID_CURSOR');
    });
  });

  describe('If-Match', () => {
    it.each([
      ['3', 400],
      ['"1" "2"', 400],
      ['"1", *', 400],
      ['"1', 400],
      [',', 400],
      ['', 400],
      ['"x"', 412],
      ['W/"1"', 412],
      ['"0"', 412],
      ['"01"', 412],
      ['"-1"', 412],
      ['"99999999999999999999"', 412],
    ])('%j of an agent at revision 1 is %i', async (tag, status) => {
      const agent = await api.createAgent();
      const answer = await api.send('PATCH', `/agents/${agent}`, { name: 'B' }, { 'If-Match': tag });
      expect(answer).toMatchObject({
        status,
        body: { code: status === 400 ? 'INVALID_REQUEST' : 'VERSION_CONFLICT' },
      });
    });
  });

  describe('Idempotency-Key', () => {
    const create = (key: string, name = 'A') =>
      api.post('/agents', { name, model: 'rehearsal/echo' }, { 'Idempotency-Key': key });

    it.each(['', ' ', 'a b', 'x'.repeat(256), 'Grüße'])('refuses %.20j', async (key) => {
      expect((await create(key)).body.code).toBe('INVALID_REQUEST');
    });

    it('refuses a repeated header', async () => {
      const body = '{"name": "A", "model": "rehearsal/echo"}';
      const twice = ['Idempotency-Key: a', 'Idempotency-Key: b'];
      const head = ['POST /api/v1/agents HTTP/1.1', 'Content-Type: application/json'];
      expectRefusal(
        await wire([...head, ...twice, `Content-Length: ${body.length}`], body),
        'INVALID_REQUEST',
      );
    });

    it('returns the first response again, and refuses another request with the same key', async () => {
      const key = `!~${'k'.repeat(253)}`;
      const first = await create(key);
      const again = await create(key);
      expect(first.headers.get('idempotent-replayed')).toBe(null);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(again).toMatchObject({ status: 201, body: first.body });
      expect(await create(key, 'B')).toMatchObject({
        status: 409,
        body: { code: 'IDEMPOTENCY_KEY_CONFLICT' },
      });
      const session = await api.post(
        `/agents/${first.body.data.agent_id}/conversations`,
        {},
        { 'Idempotency-Key': 'c' },
      );
      const path = `/sessions/${session.body.data.session_id}/messages`;
      const sent = await api.post(path, { content: 'a' }, { 'Idempotency-Key': 'm' });
      const resent = await api.post(path, { content: 'a' }, { 'Idempotency-Key': 'm' });
      expect(resent).toMatchObject({ status: 202, body: sent.body });
      expect(resent.headers.get('idempotent-replayed')).toBe('true');
    });

    it('creates one resource for concurrent requests', async () => {
      const answers = await Promise.all(Array.from({ length: 5 }, () => create('same')));
      const createdIds = answers
        .filter((answer) => answer.status === 201)
        .map((answer) => answer.body.data.agent_id);
      expect(new Set(createdIds).size).toBe(1);
      for (const { status, body } of answers)
        if (status !== 201) expect(body.code).toBe('IDEMPOTENCY_KEY_IN_USE');
    });
  });
});
