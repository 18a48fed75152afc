import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { shape } from '../support/shape.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';

interface Entry {
  path: string;
  kind: string;
  size: number;
  sha256: string | null;
}

const FILES = 400;

/** A project of several hundred files in nested folders. */
function project(): Map<string, string> {
  const files = new Map<string, string>();
  for (let i = 0; i < FILES; i++) {
    const folder = `src/part-${i % 7}/${i % 3 === 0 ? 'deep/er/' : ''}`;
    files.set(`${folder}module-${i}.ts`, `export const number = ${i};\n${'// text\n'.repeat(i % 50)}`);
  }
  files.set('README.md', '# A project\n');
  files.set('notes/ümlaut – 日本語.txt', 'Unicode\n');
  return files;
}

describe(`workspaces, ${shape}`, () => {
  let system: System;
  let api: Api;
  let agent: string;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    agent = await api.createAgent({ name: 'Shell', model: 'rehearsal/shell' });
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  const urlOf = (session: string, rest = '') => `${system.url}/api/v1/sessions/${session}/files${rest}`;

  async function conversation(): Promise<string> {
    const { body } = await api.post(`/agents/${agent}/conversations`);
    return String(body.data.session_id);
  }

  async function upload(session: string, files: Map<string, string>, directory = ''): Promise<Response> {
    const form = new FormData();
    form.append('path', directory);
    for (const [path, text] of files) form.append('files', new File([text], path));
    return fetch(urlOf(session), { method: 'POST', body: form });
  }

  async function list(session: string, query = 'recursive=true'): Promise<Entry[]> {
    const entries: Entry[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body, status } = await api.get(
        `/sessions/${session}/files?limit=100&${query}&cursor=${encodeURIComponent(cursor)}`.replace(
          /&cursor=$/,
          '',
        ),
      );
      expect(status).toBe(200);
      entries.push(...(body.data as Entry[]));
      cursor = body.page?.next_cursor ?? null;
    }
    return entries;
  }

  const read = async (session: string, path: string) =>
    (await fetch(urlOf(session, `/content?path=${encodeURIComponent(path)}`))).text();

  /** Has the agent run commands, and returns its answer. */
  async function command(session: string, ...lines: string[]): Promise<string> {
    const message = lines.map((line) => `$ ${line}`).join('\n');
    const sent = await api.post(`/sessions/${session}/messages`, { content: message });
    expect(sent.status).toBe(202);
    await until(
      'the turn has ended',
      async () => {
        const { body } = await api.get(`/sessions/${session}/turns/${String(sent.body.data.turn_id)}`);
        return ['completed', 'failed'].includes(String(body.data.status));
      },
      60_000,
    );
    const { body } = await api.get(`/sessions/${session}/messages?limit=100`);
    const last = body.data.at(-1) as { content: { text?: string }[] };
    return last.content.map(({ text }) => text ?? '').join('');
  }

  it('support upload, change by commands, list, move, download and fork of a project', async () => {
    const session = await conversation();
    const files = project();
    const uploaded = await upload(session, files);
    expect(uploaded.status).toBe(201);
    const listed = (await list(session)).filter(({ kind }) => kind === 'file');
    expect(listed.map(({ path }) => path).toSorted()).toEqual([...files.keys()].toSorted());
    for (const { path, sha256 } of listed) {
      expect(sha256).toBe(
        createHash('sha256')
          .update(files.get(path) ?? '')
          .digest('hex'),
      );
    }

    const answer = await command(
      session,
      'find . -type f | wc -l',
      'cat README.md > copy.md && echo "changed by a command" >> README.md',
      'rm -r src/part-0 && mkdir -p made/here && echo done > made/here/result.txt',
    );
    expect(answer).toContain(String(files.size));
    expect(await read(session, 'README.md')).toBe('# A project\nchanged by a command\n');
    expect(await read(session, 'made/here/result.txt')).toBe('done\n');
    expect(await read(session, 'notes/ümlaut – 日本語.txt')).toBe('Unicode\n');
    const after = await list(session);
    expect(after.some(({ path }) => path.startsWith('src/part-0'))).toBe(false);

    await command(session, 'ln -s ../made/here lib');
    const links = (await list(session)).filter(({ kind }) => kind === 'symlink');
    expect(links).toMatchObject([{ path: 'lib', target: '../made/here', size: 0, sha256: null }]);
    const entry = await fetch(urlOf(session, '/entry?path=lib'));
    expect([entry.status, entry.headers.get('etag')]).toEqual([200, null]);
    expect(await entry.json()).toMatchObject({ data: links[0] });
    expect((await fetch(urlOf(session, '/entry?path=lib/result.txt'))).status).toBe(404);
    await fetch(urlOf(session, '?path=lib'), { method: 'DELETE' });

    const moved = await api.post(`/sessions/${session}/files/move`, { from: 'src/part-1', to: 'lib/one' });
    expect(moved.status).toBe(200);
    expect(await command(session, 'ls lib/one | head -1; test -e src/part-1 || echo moved away')).toContain(
      'moved away',
    );

    const archive = await fetch(urlOf(session, '/archive?path=lib'));
    expect(archive.headers.get('content-type')).toBe('application/x-tar');
    expect((await archive.arrayBuffer()).byteLength).toBeGreaterThan(10_000);

    const { body } = await api.get(`/sessions/${session}`);
    const forked = await api.post(`/sessions/${session}/fork`, { after_seq: body.data.last_seq });
    expect(forked.status).toBe(201);
    const fork = String(forked.body.data.session_id);
    expect(await list(fork)).toEqual(await list(session));
    await command(fork, 'echo only here > README.md');
    expect(await read(fork, 'README.md')).toBe('only here\n');
    expect(await read(session, 'README.md')).toBe('# A project\nchanged by a command\n');
  });

  it('report file changes in the journal and in the change feed', async () => {
    const session = await conversation();
    await upload(session, new Map([['a.txt', 'one']]));
    await command(session, 'echo two > b.txt; echo more >> a.txt');
    await fetch(urlOf(session, '?path=b.txt'), { method: 'DELETE' });
    const reported = await until('the journal contains the deletion', async () => {
      const { body } = await api.get(
        `/sessions/${session}/events?types=files.uploaded,file.created,file.modified,file.deleted&limit=100`,
      );
      const events = body.data as { type: string; data: { path?: string; files?: { path: string }[] } }[];
      const pathsOf = ({ path, files = [] }: (typeof events)[number]['data']) =>
        path ?? files.map((file) => file.path).join();
      return events.length >= 4 && events.map(({ type, data }) => `${type} ${pathsOf(data)}`);
    });
    expect(reported).toEqual([
      'files.uploaded a.txt',
      'file.modified a.txt',
      'file.created b.txt',
      'file.deleted b.txt',
    ]);
    const { body } = await api.get(`/sessions/${session}/files/changes?after_seq=0`);
    const feed = body.data as { seq: number; path: string }[];
    expect(feed.map(({ seq, path }) => `${seq} ${path}`)).toEqual([
      '1 a.txt',
      '2 a.txt',
      '3 b.txt',
      '4 b.txt',
    ]);
  });

  it('are restored to an earlier version by a fork', async () => {
    const session = await conversation();
    await command(session, 'echo first > state.txt');
    const { body } = await api.get(`/sessions/${session}`);
    await command(session, 'echo second > state.txt');
    const forked = await api.post(`/sessions/${session}/fork`, { after_seq: body.data.last_seq });
    expect(await read(String(forked.body.data.session_id), 'state.txt')).toBe('first\n');
    expect(await command(String(forked.body.data.session_id), 'cat state.txt')).toContain('first');
  });

  it('are shared by all sessions of an assistant', async () => {
    const created = await api.post('/assistants', { name: 'Helper', model: 'rehearsal/shell' });
    const assistant = String(created.body.data.assistant_id);
    const begin = async () =>
      String((await api.post(`/assistants/${assistant}/conversations`)).body.data.session_id);
    const [one, other] = [await begin(), await begin()];
    await command(one, 'echo shared > note.txt');
    expect(await command(other, 'cat note.txt')).toContain('shared');
    const workspace = await api.get(`/assistants/${assistant}/workspace`);
    expect(workspace.body.data).toMatchObject({ files: 1 });
    const url = `${system.url}/api/v1/assistants/${assistant}/files/content?path=note.txt`;
    expect(await (await fetch(url)).text()).toBe('shared\n');
  });

  it('reject paths outside the workspace and unknown sessions', async () => {
    const session = await conversation();
    for (const path of ['../x', '/etc/passwd', 'a/../../x', 'a//b', '.', 'x\u0000y', 'a'.repeat(300)]) {
      const { status, body } = await api.get(`/sessions/${session}/files?path=${encodeURIComponent(path)}`);
      expect([path, status, body.error?.category]).toEqual([path, 400, 'request']);
    }
    const missing = await api.get('/sessions/ses_01ARZ3NDEKTSV4RRFFQ69G5FAV/files');
    expect(missing).toMatchObject({ status: 404, body: { code: 'SESSION_NOT_FOUND' } });
  });
});
