import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_RESOURCE_BYTES } from '../../../../../edge/protocols/mcp/resources/read-resource.ts';
import { type Api, createApi, dataOfCreated } from '../../../../support/api.ts';
import { type System, startSystem } from '../../../../support/system.ts';
import { until } from '../../../../support/wait.ts';
import { connectMcp } from '../client.ts';

const ABSENT = `ses_${'0'.repeat(26)}`;
const MODERN = { versionNegotiation: { mode: { pin: '2026-07-28' } } };

describe('resources of /mcp', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  const open = (path = '/mcp', options = {}) => connectMcp(`${system.url}${path}`, {}, options);

  async function talk(agentId: string, members: object = {}): Promise<string> {
    const body = { message: 'Hello', wait_seconds: 30, ...members };
    return String(dataOfCreated(await api.post(`/agents/${agentId}/conversations`, body)).session_id);
  }

  async function write(sessionId: string, path: string, content: string | Uint8Array<ArrayBuffer>) {
    const url = `${system.url}/api/v1/sessions/${sessionId}/files/content?path=${encodeURIComponent(path)}`;
    const headers = { 'Content-Type': 'application/octet-stream' };
    const { status } = await fetch(url, { method: 'PUT', body: content, headers });
    expect(status).toBe(201);
  }

  it('lists the newest sessions of the endpoint first and skips agents that are not exposed', async () => {
    const agentId = await api.createAgent();
    const ids = [await talk(agentId, { title: 'First' }), await talk(agentId, { title: 'Second' })];
    const hidden = await api.createAgent();
    await api.send('PATCH', `/agents/${hidden}`, { exposure: { mcp: 'off' } });
    const hiddenId = await talk(hidden);
    await using one = await open(`/api/v1/mcp/agents/${agentId}`, MODERN);
    const { resources, ttlMs, cacheScope } = (await one.listResources()) as Record<string, unknown>;
    expect({ ttlMs, cacheScope }).toEqual({ ttlMs: 0, cacheScope: 'private' });
    expect(resources).toMatchObject([
      { uri: `session:///${ids[1]}/transcript.md`, title: 'Second', mimeType: 'text/markdown' },
      { uri: `session:///${ids[0]}/transcript.md`, title: 'First' },
    ]);
    await using all = await open();
    const uris = (await all.listResources()).resources.map(({ uri }) => uri);
    expect(uris).toContain(`session:///${ids[0]}/transcript.md`);
    expect(uris).not.toContain(`session:///${hiddenId}/transcript.md`);
    await expect(all.readResource({ uri: `session:///${hiddenId}/events.jsonl` })).rejects.toMatchObject({
      code: -32602,
      data: { uri: `session:///${hiddenId}/events.jsonl` },
    });
  });

  it('reads text as text and other content as base64', async () => {
    const id = await talk(await api.createAgent());
    await write(id, 'a/ü #1.txt', 'Grüße\n');
    await write(id, 'b.png', new Uint8Array([0, 255, 1]));
    await using client = await open();
    const text = await client.readResource({ uri: `session:///${id}/files/a/%C3%BC%20%231.txt` });
    expect(text.contents).toMatchObject([{ mimeType: 'text/plain', text: 'Grüße\n' }]);
    const image = await client.readResource({ uri: `session:///${id}/files/b.png` });
    expect(image.contents).toMatchObject([{ mimeType: 'image/png', blob: 'AP8B' }]);
  });

  it.each(['events.jsonl', 'files/a', 'files/absent.txt', 'other.txt', 'files/%2e%2e/x'])(
    'answers not found for %s',
    async (part) => {
      const sessionId = part === 'events.jsonl' ? ABSENT : await talk(await api.createAgent());
      if (sessionId !== ABSENT) await write(sessionId, 'a/b.txt', 'x');
      await using client = await open();
      const uri = `session:///${sessionId}/${part}`;
      await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32602, data: { uri } });
    },
  );

  it('refuses content beyond its limit by name', async () => {
    const id = await talk(await api.createAgent());
    const line = `${'x'.repeat(1_023)}\n`;
    await write(id, 'exact.txt', line.repeat(MAX_RESOURCE_BYTES / line.length));
    await write(id, 'longer.txt', `${line.repeat(MAX_RESOURCE_BYTES / line.length)}x`);
    await using client = await open();
    const exact = await client.readResource({ uri: `session:///${id}/files/exact.txt` });
    expect((exact.contents[0] as { text: string }).text.length).toBe(MAX_RESOURCE_BYTES);
    await expect(client.readResource({ uri: `session:///${id}/files/longer.txt` })).rejects.toMatchObject({
      code: -32602,
      data: { code: 'FILE_TOO_LARGE', retryable: false, request_id: expect.stringMatching(/^req_/) },
    });
  });

  it('reports changes to a listening client until the session is deleted', async () => {
    const agentId = await api.createAgent();
    const id = await talk(agentId);
    await using client = await open('/mcp', MODERN);
    const transcript = `session:///${id}/transcript.md`;
    const file = `session:///${id}/files/a.txt`;
    const updated: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      updated.push(params.uri);
    });
    const requested = [transcript, file, `session:///${ABSENT}/transcript.md`];
    const subscription = await client.listen({ resourceSubscriptions: requested });
    expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: [transcript, file] });
    await write(id, 'b.txt', 'x');
    await write(id, 'a.txt', 'x');
    await until('the file is reported', () => updated.includes(file));
    expect(updated).not.toContain(transcript);
    await api.post(`/sessions/${id}/messages`, { content: 'Again' });
    await until('the transcript is reported', () => updated.includes(transcript));
    await api.send('DELETE', `/sessions/${id}`);
    expect(await subscription.closed).toBe('graceful');
  });

  it('reports new tools to a listening client', async () => {
    await using client = await open('/mcp', MODERN);
    let changes = 0;
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      changes++;
    });
    const subscription = await client.listen({ toolsListChanged: true });
    expect(subscription.honoredFilter).toEqual({ toolsListChanged: true });
    await api.createAgent({ name: 'New tool' });
    await until('the change is reported', () => changes > 0);
    await subscription.close();
  });

  it('declares no subscriptions to clients of 2025-11-25', async () => {
    await using client = await open('/mcp', { versionNegotiation: { mode: 'legacy' } });
    expect(client.getServerCapabilities()).toMatchObject({ tools: {}, resources: {} });
    expect(client.getServerCapabilities()?.resources?.subscribe).toBeUndefined();
    expect(client.getServerCapabilities()?.tools?.listChanged).toBeUndefined();
  });
});
