import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../../support/api.ts';
import { type System, startSystem } from '../../../support/system.ts';

const LEGACY = { 'mcp-protocol-version': '2025-11-25' };
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

interface JsonRpcError {
  jsonrpc: string;
  id: string | number | null;
  error: { code: number; message: string; data?: { code?: string; request_id?: string } };
}

describe('malformed requests to /mcp', () => {
  let system: System;
  let api: Api;
  let agent: string;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    agent = await api.createAgent();
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const send = (
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = LEGACY,
    path = '/mcp',
  ) =>
    fetch(system.url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body,
    });
  /** The error of a response, which is JSON or a stream with one message. */
  async function errorOf(response: Response): Promise<JsonRpcError> {
    const text = await response.text();
    const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
    return JSON.parse(data) as JsonRpcError;
  }
  const request = (members: object) => JSON.stringify({ jsonrpc: '2.0', id: 7, ...members });
  const toolCall = (name: string, args: unknown) =>
    request({ method: 'tools/call', params: { name, arguments: args } });

  it.each([
    ['no JSON', '{', -32700, null],
    ['an empty body', '', -32700, null],
    ['a repeated member', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700, null],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, null],
    ['an empty batch', '[]', -32600, null],
    ['a text', '"ping"', -32600, null],
    ['another version of JSON-RPC', '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 1],
    ['no method', '{"jsonrpc":"2.0","id":1}', -32600, 1],
    ['a method that is no text', '{"jsonrpc":"2.0","id":1,"method":5}', -32600, 1],
    ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, null],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, null],
    ['an unknown member', '{"jsonrpc":"2.0","id":1,"method":"ping","extra":1}', -32600, 1],
    ['params that are a list', '{"jsonrpc":"2.0","id":"a","method":"ping","params":[]}', -32602, 'a'],
    ['meta that is a text', '{"jsonrpc":"2.0","id":"a","method":"ping","params":{"_meta":""}}', -32602, 'a'],
    ['a lone surrogate', '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\ud800"}}', -32602, 1],
  ])('refuses %s', async (_, body, code, id) => {
    const response = await send(body);
    expect(response.status).toBe(400);
    const answer = await errorOf(response);
    expect(answer).toMatchObject({ jsonrpc: '2.0', id, error: { code, data: { code: 'INVALID_REQUEST' } } });
    expect(answer.error.data?.request_id).toBe(response.headers.get('x-request-id'));
  });

  it.each([
    ['an unknown method', request({ method: 'nothing/at-all' }), -32601],
    ['an unknown tool', toolCall('nothing', {}), -32602],
    ['the tool of no agent', toolCall('ask_nobody_0000', { message: 'hi' }), -32602],
    ['a call without a name', request({ method: 'tools/call', params: {} }), -32602],
    ['missing arguments', toolCall('create_conversation', {}), -32602],
    ['an unknown argument', toolCall('list_agents', { unknown: 1 }), -32602],
    ['an argument of another type', toolCall('list_agents', { limit: 'all' }), -32602],
    ['arguments that are a list', toolCall('list_agents', []), -32602],
  ])('refuses %s with the id of the request', async (_, body, code) => {
    expect(await errorOf(await send(body))).toMatchObject({ id: 7, error: { code } });
  });

  it('refuses an unsupported revision and headers that contradict the body', async () => {
    const old = await send(request({ method: 'ping' }), { 'mcp-protocol-version': '2020-01-01' });
    expect(old.status).toBe(400);
    const params = { name: 'list_agents', arguments: {}, _meta: META };
    const body = request({ method: 'tools/call', params });
    const headers = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'list_agents',
    };
    const right = await send(body, headers);
    expect(right.status, await right.clone().text()).toBe(200);
    for (const wrong of [
      { ...headers, 'mcp-method': 'tools/list' },
      { ...headers, 'mcp-name': 'get_agent' },
      { ...headers, 'mcp-protocol-version': '2025-11-25' },
    ]) {
      const response = await send(body, wrong);
      expect(response.status, JSON.stringify(wrong)).toBe(400);
      expect(await errorOf(response)).toMatchObject({ id: 7 });
    }
  });

  const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' };
  const { 'io.modelcontextprotocol/clientCapabilities': _, ...NO_CAPABILITIES } = META;
  const BAD_CAPABILITIES = { ...META, 'io.modelcontextprotocol/clientCapabilities': { elicitation: 1 } };
  it.each([
    ['without the header Mcp-Name', modern, META, -32020],
    ['without the header Mcp-Method', { 'mcp-protocol-version': '2026-07-28' }, META, -32020],
    ['without capabilities', { ...modern, 'mcp-name': 'list_agents' }, NO_CAPABILITIES, -32602],
    ['with invalid capabilities', { ...modern, 'mcp-name': 'list_agents' }, BAD_CAPABILITIES, -32602],
    ['without the revision in the body', { ...modern, 'mcp-name': 'list_agents' }, {}, -32602],
  ])('refuses a request of 2026-07-28 %s', async (_name, headers, _meta, code) => {
    const params = { name: 'list_agents', arguments: {}, _meta };
    const response = await send(request({ method: 'tools/call', params }), headers);
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ id: 7, error: { code } });
  });

  it.each([
    ['an unknown tool', { name: 'nothing', arguments: {} }],
    ['missing arguments', { name: 'create_conversation', arguments: {} }],
    ['arguments that are a list', { name: 'list_agents', arguments: [] }],
  ])('refuses %s of a request of 2026-07-28 with the id of the request', async (_name, params) => {
    const body = request({ method: 'tools/call', params: { ...params, _meta: META } });
    const response = await send(body, { ...modern, 'mcp-name': params.name });
    expect(await errorOf(response)).toMatchObject({ id: 7, error: { code: -32602 } });
  });

  it('refuses media types, lengths, methods and agents in the form of JSON-RPC', async () => {
    const text = await send('{}', { 'content-type': 'text/plain' });
    expect([text.status, (await errorOf(text)).error.data?.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    const long = await send(request({ method: 'ping', params: { a: 'x'.repeat(10 * 1024 * 1024) } }));
    expect([long.status, (await errorOf(long)).error.data?.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    const unknown = '/api/v1/mcp/agents/agt_7ZZZZZZZZZZZZZZZZZZZZZZZZZ';
    const none = await send(request({ method: 'ping' }), LEGACY, unknown);
    expect([none.status, (await errorOf(none)).error.data?.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    const origin = await send(request({ method: 'ping' }), { ...LEGACY, origin: 'http://evil.example' });
    expect([origin.status, (await errorOf(origin)).error.data?.code]).toEqual([403, 'CSRF_REJECTED']);
    for (const method of ['GET', 'DELETE']) {
      const response = await fetch(`${system.url}/mcp`, { method, headers: { accept: 'text/event-stream' } });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('POST');
      await response.body?.cancel();
    }
  });

  it('answers no body with a server error, and creates nothing', async () => {
    const names = ['list_agents', 'create_conversation', 'send_message', 'write_file', 'answer_approval'];
    const method = fc.oneof(fc.constantFrom('tools/call', 'tools/list', 'initialize', 'ping'), fc.string());
    const params = fc.oneof(
      fc.record({ name: fc.oneof(fc.constantFrom(...names), fc.string()), arguments: fc.jsonValue() }),
      fc.record({ name: fc.constantFrom(...names), arguments: fc.object(), _meta: fc.jsonValue() }),
      fc.jsonValue(),
    );
    const message = fc
      .record(
        { jsonrpc: fc.constantFrom('2.0', 2, null), id: fc.jsonValue(), method, params },
        { requiredKeys: [] },
      )
      .map((value) => JSON.stringify(value));
    const bytes = fc.uint8Array({ maxLength: 40 });
    const body = fc.oneof({ weight: 6, arbitrary: message }, fc.json(), fc.string(), bytes);
    const before = (await api.get('/sessions')).body.data.length;
    await fc.assert(
      fc.asyncProperty(body, fc.boolean(), async (sent, modern) => {
        const headers = modern ? { 'mcp-protocol-version': '2026-07-28' } : LEGACY;
        const response = await send(typeof sent === 'string' ? sent : new Uint8Array(sent), headers);
        await response.body?.cancel();
        expect(response.status).toBeLessThan(500);
      }),
      { numRuns: 300, seed: 23 },
    );
    expect((await api.get('/sessions')).body.data.length).toBe(before);
    expect((await api.get(`/agents/${agent}`)).status).toBe(200);
  });
});
