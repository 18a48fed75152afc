import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { rowsOn, runOn } from '../support/sql.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';
import { base64, PNG, partsApi, sha256 } from './message-parts.ts';

const image = { type: 'image', media_type: 'image/png' };

describe('POST /sessions/{session_id}/messages with images and files', () => {
  let system: System;
  let api: Api;
  let parts: ReturnType<typeof partsApi>;
  let echo: string;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    parts = partsApi(api);
    echo = await api.createAgent();
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const send = (session: string, content: unknown) => api.post(`/sessions/${session}/messages`, { content });
  const storedParts = async () =>
    (await rowsOn<{ count: number }>(system.databaseUrl, 'select count(*)::int from files.parts'))[0]?.count;

  it('sends bytes from the body, in the place of the part, and journals their digest', async () => {
    const session = await parts.begin(echo);
    const answer = await parts.ask(session, [
      { type: 'text', text: 'Look: ' },
      { ...image, name: 'a.png', data: base64(PNG) },
      { type: 'text', text: '!' },
    ]);
    expect(answer).toBe('Look: [image image/png 16 bytes a.png]!');
    expect(await parts.content(session, 0)).toEqual([
      { type: 'text', text: 'Look: ' },
      { type: 'image', media_type: 'image/png', name: 'a.png', sha256: sha256(PNG), size: 16 },
      { type: 'text', text: '!' },
    ]);
    const { body } = await api.get(`/sessions/${session}/events?limit=100`);
    expect(JSON.stringify(body)).not.toContain(base64(PNG));
  });

  it('sends a file of the workspace as it was when the message was sent', async () => {
    const session = await parts.begin(echo);
    await parts.putFile(session, 'notes.txt', Buffer.from('first'));
    const first = await parts.ask(session, [{ type: 'file', path: 'notes.txt' }]);
    expect(first).toBe('[file text/plain 5 bytes notes.txt]');
    await parts.putFile(session, 'notes.txt', Buffer.from('second version'));
    await api.send('DELETE', `/sessions/${session}/files?path=notes.txt`);
    expect(await parts.content(session, 0)).toMatchObject([{ sha256: sha256(Buffer.from('first')) }]);
    // The model gets the history with the first version.
    expect(await parts.ask(session, 'And?')).toBe('And?');
    const missing = await send(session, [{ type: 'file', path: 'notes.txt' }]);
    expect(missing.body).toMatchObject({
      code: 'FILE_NOT_FOUND',
      error: { details: [{ pointer: '/content/0/path' }] },
    });
  });

  it('keeps parts in a fork after the first session was deleted', async () => {
    const session = await parts.begin(echo, { message: [{ ...image, data: base64(PNG) }] });
    await parts.answer(session);
    const { last_seq: seq } = (await api.get(`/sessions/${session}`)).body.data;
    const forked = await api.post(`/sessions/${session}/fork`, { after_seq: seq });
    const fork = String(forked.body.data.session_id);
    await api.send('DELETE', `/sessions/${session}`);
    expect(await parts.content(fork, 0)).toMatchObject([{ sha256: sha256(PNG) }]);
    expect(await parts.ask(fork, 'Still there?')).toBe('Still there?');
  });

  it('returns the same turn for a repeated Idempotency-Key, and refuses other bytes under it', async () => {
    const session = await parts.begin(echo);
    const once = (data: Buffer) =>
      api.post(
        `/sessions/${session}/messages`,
        { content: [{ ...image, data: base64(data) }] },
        { 'Idempotency-Key': 'photo-1' },
      );
    const first = await once(PNG);
    const stored = await storedParts();
    const second = await once(PNG);
    expect(second.body.data).toEqual(first.body.data);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    const other = await once(Buffer.concat([PNG, Buffer.from('other')]));
    expect(other.body.code).toBe('IDEMPOTENCY_KEY_CONFLICT');
    expect(await storedParts()).toBe(stored);
  });

  it('returns the same turn for a repeated Idempotency-Key after the file of the message was deleted', async () => {
    const session = await parts.begin(echo);
    await parts.putFile(session, 'once.txt', Buffer.from('once'));
    const content = [{ type: 'file', path: 'once.txt' }];
    const once = () =>
      api.post(`/sessions/${session}/messages`, { content }, { 'Idempotency-Key': 'file-1' });
    const first = await once();
    await api.send('DELETE', `/sessions/${session}/files?path=once.txt`);
    const second = await once();
    expect([second.status, second.body.data]).toEqual([202, first.body.data]);
  });

  it('refuses a media type that the model does not accept, before it stores anything', async () => {
    const shell = await api.createAgent({ model: 'rehearsal/shell' });
    const session = await parts.begin(shell);
    const before = await storedParts();
    const content = [
      { type: 'text', text: 'Look' },
      { ...image, data: base64(PNG) },
    ];
    const refused = await send(session, content);
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({
      code: 'CONTENT_NOT_SUPPORTED',
      message: expect.stringMatching(/rehearsal\/shell.*image\/png/),
      error: { details: [{ pointer: '/content/1/media_type' }] },
    });
    const conversation = await api.post(`/agents/${shell}/conversations`, { message: { content } });
    expect(conversation.body).toMatchObject({
      code: 'CONTENT_NOT_SUPPORTED',
      error: { details: [{ pointer: '/message/content/1/media_type' }] },
    });
    expect(await storedParts()).toBe(before);
  });

  it.each<[string, unknown, string, string?]>([
    ['two sources', { ...image, data: base64(PNG), path: 'a.png' }, '/content/0'],
    ['no source', image, '/content/0'],
    ['a URL', { ...image, url: 'https://example.com/a.png' }, '/content/0/url'],
    ['an unknown member', { type: 'text', text: 'a', more: 1 }, '/content/0/more'],
    ['an unknown type', { type: 'video', data: base64(PNG) }, '/content/0/type'],
    ['a data URL', { ...image, data: `data:image/png;base64,${base64(PNG)}` }, '/content/0/data'],
    ['Base64 without padding', { ...image, data: 'iVBORw0KGg' }, '/content/0/data'],
    ['empty data', { ...image, data: '' }, '/content/0/data'],
    ['data without a media type', { type: 'file', data: base64(PNG) }, '/content/0/media_type'],
    [
      'an image of another kind',
      { ...image, media_type: 'image/svg+xml', data: 'AAAA' },
      '/content/0/media_type',
    ],
    [
      'bytes of another kind',
      { ...image, media_type: 'image/gif', data: base64(PNG) },
      '/content/0/media_type',
    ],
    ['a path outside of the workspace', { ...image, path: '../a.png' }, '/content/0/path'],
    ['an unknown upload', { ...image, upload_id: 'upl_nothing' }, '/content/0/upload_id', 'UPLOAD_NOT_FOUND'],
    [
      'more than 5 MiB of data',
      { ...image, data: base64(Buffer.alloc(5 * 1024 * 1024 + 1)) },
      '/content/0/data',
    ],
  ])('refuses %s and names the member', async (_, part, pointer, code = 'INVALID_REQUEST') => {
    const session = await parts.begin(echo);
    const { body } = await send(session, [part]);
    expect(body).toMatchObject({ code, error: { details: [{ pointer }] } });
    expect((await api.get(`/sessions/${session}/messages`)).body.data).toEqual([]);
  });

  it('refuses more than 32 images and files', async () => {
    const session = await parts.begin(echo);
    const content = Array.from({ length: 33 }, () => ({ ...image, data: base64(PNG) }));
    expect((await send(session, content)).body).toMatchObject({
      code: 'INVALID_REQUEST',
      error: { details: [{ pointer: '/content/32' }] },
    });
    expect((await send(session, content.slice(1))).status).toBe(202);
  });

  it('accepts 7 MiB of data in one message', async () => {
    const session = await parts.begin(echo);
    const half = Buffer.alloc(3.5 * 1024 * 1024 - PNG.length);
    const content = [0, 1].map(() => ({ ...image, data: base64(Buffer.concat([PNG, half])) }));
    expect(await parts.ask(session, content)).toBe('[image image/png 3670016 bytes]'.repeat(2));
  });
});

describe('POST /agents/{agent_id}/conversations with images and files', () => {
  let system: System;
  let api: Api;
  let parts: ReturnType<typeof partsApi>;
  let echo: string;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    parts = partsApi(api);
    echo = await api.createAgent();
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const content = [{ ...image, name: 'a.png', data: base64(PNG) }];

  it.each([
    ['the content', content],
    ['an object with the content', { content }],
  ])('takes %s as the first message', async (_, message) => {
    const session = await parts.begin(echo, { message });
    expect(await parts.answer(session)).toBe('[image image/png 16 bytes a.png]');
    expect((await api.get(`/sessions/${session}`)).body.data.title).toBe('a.png');
  });

  it('puts uploads into the workspace before the first turn starts', async () => {
    const shell = await api.createAgent({
      model: 'rehearsal/shell',
      tools: [{ name: 'bash', permission: 'allow' }],
    });
    const upload = await parts.upload(Buffer.from('1,2\n'), 'media_type=text/csv&name=input.csv');
    const session = await parts.begin(shell, {
      message: '$ cat data/input.csv',
      files: [{ path: 'data/input.csv', upload_id: upload }],
    });
    expect(await parts.answer(session, 2)).toContain('1,2');
  });

  it('journals the upload of files once, before the first turn is queued', async () => {
    const upload = await parts.upload(Buffer.from('1,2\n'), 'media_type=text/csv&name=input.csv');
    const files = [
      { path: 'data/a.csv', upload_id: upload },
      { path: 'b.csv', upload_id: upload },
    ];
    for (const members of [{ message: 'Hello' }, {}]) {
      const begun = await api.post(
        `/agents/${echo}/conversations`,
        { ...members, files },
        { 'Idempotency-Key': `files-${'message' in members}` },
      );
      const session = String(begun.body.data.session_id);
      expect(begun.body.data.last_seq).toBe('message' in members ? 5 : 2);
      await parts.putFile(session, 'later.txt', Buffer.from('later'));
      const events = await until('the later upload is journaled', async () => {
        const { body } = await api.get(`/sessions/${session}/events?limit=100`);
        const all = body.data as { type: string; data: { files?: { path: string }[] } }[];
        return all.filter(({ type }) => type === 'files.uploaded').length > 1 && all;
      });
      const uploaded = events.filter(({ type }) => type === 'files.uploaded');
      expect(uploaded.map(({ data }) => data.files?.map(({ path }) => path))).toEqual([
        ['b.csv', 'data/a.csv'],
        ['later.txt'],
      ]);
      const types = ['session.created', 'files.uploaded', 'user.message', 'turn.queued'];
      expect(events.slice(0, 4).map(({ type }) => type)).toEqual(
        'message' in members ? types : [...types.slice(0, 2), 'files.uploaded'],
      );
      if (!('message' in members)) continue;
      const [turn] = (await api.get(`/sessions/${session}/turns`)).body.data as unknown as {
        queued_seq: number;
      }[];
      expect(turn?.queued_seq).toBe(3);
      expect(await parts.answer(session)).toBe('Hello');
      expect(await parts.ask(session, 'Again')).toBe('Again');
    }
  });

  it('sends an upload, also twice', async () => {
    const upload = await parts.upload(PNG);
    const session = await parts.begin(echo, { message: [{ type: 'image', upload_id: upload }] });
    expect(await parts.answer(session)).toBe('[image image/png 16 bytes u.png]');
    expect(await parts.ask(session, [{ type: 'image', name: 'b.png', upload_id: upload }])).toBe(
      '[image image/png 16 bytes b.png]',
    );
  });

  it('refuses an upload that has expired', async () => {
    const upload = await parts.upload(PNG);
    await runOn(
      system.databaseUrl,
      `update files.uploads set expires_at = now() - interval '1 second' where upload_id = '${upload}'`,
    );
    const { body } = await api.post(`/agents/${echo}/conversations`, {
      message: [{ type: 'image', upload_id: upload }],
    });
    expect(body).toMatchObject({
      code: 'UPLOAD_NOT_FOUND',
      error: { details: [{ pointer: '/message/0/upload_id' }] },
    });
  });

  it('refuses an unknown upload for the workspace and creates no session', async () => {
    const agent = await api.createAgent();
    const { body } = await api.post(`/agents/${agent}/conversations`, {
      message: content,
      files: [{ path: 'a.csv', upload_id: 'upl_nothing' }],
    });
    expect(body).toMatchObject({
      code: 'UPLOAD_NOT_FOUND',
      error: { details: [{ pointer: '/files/0/upload_id' }] },
    });
    expect((await api.get(`/sessions?agent_id=${agent}`)).body.data).toEqual([]);
    const rows = await rowsOn(
      system.databaseUrl,
      `select 1 from files.parts where name = 'a.png' and session_id not in
      (select session_id from sessions.sessions)`,
    );
    expect(rows).toEqual([]);
  });

  it('works for the sessions of an assistant, whose fork keeps the parts', async () => {
    const created = await api.post('/assistants', { name: 'A', model: 'rehearsal/echo' });
    const assistant = String(created.body.data.assistant_id);
    const begun = await api.post(`/assistants/${assistant}/conversations`, { message: content });
    const session = String(begun.body.data.session_id);
    expect(await parts.answer(session)).toBe('[image image/png 16 bytes a.png]');
    const { last_seq: seq } = (await api.get(`/sessions/${session}`)).body.data;
    const forked = await api.post(`/sessions/${session}/fork`, { after_seq: seq });
    const fork = String(forked.body.data.session_id);
    await api.send('DELETE', `/sessions/${session}`);
    expect(await parts.ask(fork, 'Still there?')).toBe('Still there?');
  });
});
