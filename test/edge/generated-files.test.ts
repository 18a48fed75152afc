import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';
import { base64, PNG, partsApi, sha256 } from './message-parts.ts';

const IMAGE = { type: 'image', media_type: 'image/png', sha256: sha256(PNG), size: PNG.length };
const DATA = base64(PNG);

describe('an image in the answer of a model', () => {
  let system: System;
  let api: Api;
  let parts: ReturnType<typeof partsApi>;
  let session: string;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    parts = partsApi(api);
    const steps = [{ text: 'Drawn: ' }, { file: { media_type: 'image/png', data: DATA } }];
    const agent = await api.createAgent({ model: 'rehearsal/script', model_options: { steps } });
    session = await parts.begin(agent, { message: 'Draw' });
    await parts.answer(session);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const get = async (path: string) => {
    const response = await fetch(`${system.url}/api/v1/sessions/${path}`);
    return { headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
  };

  const chatOf = async (id: string) =>
    (await api.get(`/sessions/${id}/ai-messages`)).body.data as unknown as { parts: object[] }[];

  it('is in the journal, the messages and the export as a digest, never as bytes', async () => {
    expect(await parts.content(session, 1)).toEqual([{ type: 'text', text: 'Drawn: ' }, IMAGE]);
    const exported = String((await get(`${session}/export`)).bytes);
    expect(exported).toContain(IMAGE.sha256);
    const { body } = await api.get(`/sessions/${session}/events?limit=100`);
    expect(JSON.stringify(body) + exported).not.toMatch(DATA.slice(0, 20));
  });

  it('is downloaded from the session and from a fork after the session was deleted', async () => {
    const image = await get(`${session}/parts/${IMAGE.sha256}`);
    expect(image.bytes.equals(PNG)).toBe(true);
    expect(image.headers.get('content-type')).toBe('image/png');
    const { last_seq: seq } = (await api.get(`/sessions/${session}`)).body.data;
    const first = await api.post(`/sessions/${session}/fork`, { after_seq: seq });
    const { session_id: fork } = first.body.data;
    const second = await api.post(`/sessions/${fork}/fork`, { after_seq: first.body.data.last_seq });
    await api.send('DELETE', `/sessions/${fork}`);
    const copy = String(second.body.data.session_id);
    expect(await parts.content(copy, 1)).toMatchObject([{ type: 'text' }, IMAGE]);
    expect((await get(`${copy}/parts/${IMAGE.sha256}`)).bytes.equals(PNG)).toBe(true);
    const history = await chatOf(copy);
    expect(history[1]?.parts.at(-1)).toMatchObject({ url: `/api/v1/sessions/${copy}/parts/${IMAGE.sha256}` });
  });

  it('has the same URL in ai-messages and in ai-stream', async () => {
    const url = `/api/v1/sessions/${session}/parts/${IMAGE.sha256}`;
    const file = { type: 'file', mediaType: 'image/png', url };
    expect((await chatOf(session))[1]?.parts).toMatchObject([
      { type: 'step-start' },
      { text: 'Drawn: ' },
      file,
    ]);
    const stream = await fetch(`${system.url}/api/v1/sessions/${session}/ai-stream`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ content: 'Again' }),
    });
    expect(await stream.text()).toContain(JSON.stringify({ type: 'file', url, mediaType: 'image/png' }));
  });

  it('reaches the next request of a model', async () => {
    const { length } = (await api.get(`/sessions/${session}/messages`)).body.data;
    await parts.ask(session, 'And another');
    expect(await parts.content(session, length + 1)).toEqual([{ type: 'text', text: 'Drawn: ' }, IMAGE]);
  });
});
