import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type System, startSystem } from '../../support/system.ts';

const MCP = ['/mcp', '/api/v1/mcp', `/api/v1/mcp/agents/agt_${'0'.repeat(26)}`];
const OPENAI = '/api/v1/openai/v1';

describe('requests without a route on the paths of protocols', () => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem();
  });
  afterAll(() => system[Symbol.asyncDispose]());

  async function send(method: string, path: string) {
    const response = await fetch(system.url + path, { method, headers: { Accept: 'text/event-stream' } });
    return { status: response.status, allow: response.headers.get('allow'), body: await response.json() };
  }

  it.each(MCP)('GET and DELETE of %s are JSON-RPC errors with 405', async (path) => {
    for (const method of ['GET', 'DELETE', 'PUT'])
      expect(await send(method, path)).toMatchObject({
        status: 405,
        allow: 'POST',
        body: {
          jsonrpc: '2.0',
          id: null,
          error: { code: -32000, message: expect.any(String), data: { code: 'METHOD_NOT_ALLOWED' } },
        },
      });
  });

  it('an unknown path below /api/v1/mcp is a JSON-RPC error with 404', async () => {
    expect(await send('POST', '/api/v1/mcp/other?a=1')).toMatchObject({
      status: 404,
      body: { jsonrpc: '2.0', error: { data: { code: 'ROUTE_NOT_FOUND' } } },
    });
  });

  it('unknown paths and methods of the OpenAI API have its errors', async () => {
    expect(await send('GET', `${OPENAI}/chat/completions`)).toMatchObject({
      status: 405,
      allow: 'POST',
      body: {
        error: { type: 'invalid_request_error', code: 'METHOD_NOT_ALLOWED', param: null },
      },
    });
    for (const path of [`${OPENAI}/embeddings`, '/api/v1/openai', '/api/v1/openai/v2/models?a=1'])
      expect(await send('POST', path)).toMatchObject({
        status: 404,
        body: { error: { type: 'invalid_request_error', code: 'ROUTE_NOT_FOUND' } },
      });
  });

  it('other paths keep the envelope of the REST API', async () => {
    for (const path of ['/api/v1/mcps', '/api/v1/openais/v1'])
      expect(await send('GET', path)).toMatchObject({ status: 404, body: { code: 'ROUTE_NOT_FOUND' } });
    expect(await send('PUT', '/api/v1/agents')).toMatchObject({ status: 405, body: { data: null } });
  });
});
