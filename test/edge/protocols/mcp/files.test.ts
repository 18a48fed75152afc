import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../../support/api.ts';
import { type System, startSystem } from '../../../support/system.ts';
import { call, callRefused, connectMcp } from './client.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const LONG = 1024 * 1024 + 1;

describe('the tools of /mcp for files', () => {
  let system: System;
  let api: Api;
  let client: Awaited<ReturnType<typeof connectMcp>>;
  let session_id: string;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    client = await connectMcp(`${system.url}/mcp`);
    const begun = await call(client, 'create_conversation', { agent_id: await api.createAgent() });
    session_id = String(begun.session_id);
  });
  afterAll(async () => {
    await client.close();
    await system[Symbol.asyncDispose]();
  });

  it('return an image as an image, and other bytes in Base64', async () => {
    await call(client, 'write_file', { session_id, path: 'p.png', content: PNG, encoding: 'base64' });
    const { content } = await client.callTool({
      name: 'read_file',
      arguments: { session_id, path: 'p.png' },
    });
    expect(content).toContainEqual({ type: 'image', data: PNG, mimeType: 'image/png' });
    await call(client, 'write_file', { session_id, path: 'b.bin', content: 'AAEC', encoding: 'base64' });
    const bytes = await call(client, 'read_file', { session_id, path: 'b.bin' });
    expect(bytes).toMatchObject({ size: 3, text: null, base64: 'AAEC' });
  });

  it('return a long file as a link to a resource, and parts of it', async () => {
    const path = 'long ä.txt';
    await call(client, 'write_file', { session_id, path, content: 'x'.repeat(LONG) });
    const { content } = await client.callTool({ name: 'read_file', arguments: { session_id, path } });
    const uri = `session:///${session_id}/files/long%20%C3%A4.txt`;
    expect(content).toContainEqual(expect.objectContaining({ type: 'resource_link', uri, size: LONG }));
    const { contents } = await client.readResource({ uri });
    expect(contents).toMatchObject([{ uri, text: expect.stringMatching(/^x+$/) }]);
    const part = await call(client, 'read_file', { session_id, path, offset: LONG - 2 });
    expect(part).toMatchObject({ offset: LONG - 2, text: 'xx' });
  });

  it('write a file once with the same idempotency key', async () => {
    const args = { session_id, path: 'once.txt', content: '1', idempotency_key: 'write-1' };
    const first = await call(client, 'write_file', args);
    expect(await call(client, 'write_file', args)).toEqual(first);
  });

  it.each([
    ['read_file', { path: 'nowhere' }, 'FILE_NOT_FOUND'],
    ['read_file', { path: '../x' }, 'INVALID_REQUEST'],
    ['read_file', { path: 'once.txt', offset: 9 }, 'RANGE_NOT_SATISFIABLE'],
    ['write_file', { path: 'x', content: '?', encoding: 'base64' }, 'INVALID_REQUEST'],
    ['list_files', { path: 'nowhere' }, 'FILE_NOT_FOUND'],
  ])('%s refuses %j with %s', async (name, args, code) => {
    await call(client, 'write_file', { session_id, path: 'once.txt', content: '1' });
    expect(await callRefused(client, name, { session_id, ...args })).toMatchObject({ code });
  });

  it('link the files that a turn has written', async () => {
    const agent = await api.createAgent({
      model: 'rehearsal/script',
      model_options: {
        steps: [
          { tool: 'write_file', input: { path: 'out/report.md', content: '# Done' } },
          { text: 'See the report.' },
        ],
      },
      tools: [{ name: 'write_file', permission: 'allow' }],
    });
    const { content, structuredContent } = await client.callTool({
      name: 'create_conversation',
      arguments: { agent_id: agent, message: 'go' },
    });
    const id = (structuredContent as { session_id: string }).session_id;
    const uri = `session:///${id}/files/out/report.md`;
    expect(structuredContent).toMatchObject({ files: [{ path: 'out/report.md', size: 6, uri }] });
    expect(content).toContainEqual(
      expect.objectContaining({ type: 'resource_link', uri, name: 'report.md' }),
    );
  });
});
