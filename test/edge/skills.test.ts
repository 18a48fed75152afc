import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skillFile, skillZip, tarGzOf, zipOf } from '../services/agents/skills/archives.ts';
import { type Api, createApi } from '../support/api.ts';
import { rowsOn } from '../support/sql.ts';
import { type System, startSystem } from '../support/system.ts';

const PATH = '/admin/skills';
const MIB = 1024 * 1024;

describe(PATH, () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  const send = async (
    path: string,
    bytes: Buffer,
    type = 'application/zip',
    headers: Record<string, string> = {},
  ) => {
    const response = await fetch(`${system.url}/api/v1${path}`, {
      method: 'POST',
      headers: { 'Content-Type': type, ...headers },
      body: new Uint8Array(bytes),
    });
    const { data, error } = JSON.parse(await response.text());
    return { status: response.status, etag: response.headers.get('etag'), data, error, code: error?.code };
  };
  const publish = (bytes: Buffer) => send(PATH, bytes);
  const publishVersion = (skillId: string, bytes: Buffer) => send(`${PATH}/${skillId}/versions`, bytes);
  const put = (path: string, body: object) => api.send('PUT', path, body);
  const created = async (name: string, files?: Record<string, string>) =>
    (await publish(skillZip(name, files))).data.skill_id as string;
  const stored = () =>
    rowsOn<{ rows: number }>(
      system.databaseUrl,
      `select (select count(*) from agents.skills) + (select count(*) from agents.skill_versions)
         + (select count(*) from agents.skill_trees_to_delete) + (select count(*) from files.workspaces)
         + (select count(*) from files.contents) as rows`,
    );

  it('creates a skill from an archive, with files that can be read', async () => {
    const lines = [
      'description: Fills in PDF forms.',
      'license: MIT',
      'metadata:',
      '  author: Example',
      'allowed-tools: bash read_file',
    ];
    const answer = await publish(
      zipOf([
        { name: 'forms/SKILL.md', data: skillFile('forms', lines) },
        { name: 'forms/scripts/fill.sh', data: 'echo filled\n', mode: 0o100755 },
        { name: 'forms/.DS_Store', data: 'x' },
      ]),
    );
    expect(answer).toMatchObject({
      status: 201,
      etag: '"1"',
      data: {
        ...{
          name: 'forms',
          description: 'Fills in PDF forms.',
          license: 'MIT',
          compatibility: '',
          version: 1,
        },
        ...{ metadata: { author: 'Example' }, allowed_tools: 'bash read_file', enabled: true, file_count: 2 },
        ...{ revision: 1, warnings: [{ path: 'forms/.DS_Store' }] },
      },
    });
    const { skill_id: skillId } = answer.data;
    const files = await api.get(`${PATH}/${skillId}/versions/1/files?limit=1`);
    expect(files.body.data).toMatchObject([{ path: 'SKILL.md', executable: false }]);
    const rest = await api.get(
      `${PATH}/${skillId}/versions/1/files?limit=1&cursor=${files.body.page?.next_cursor}`,
    );
    expect(rest.body).toMatchObject({
      data: [{ path: 'scripts/fill.sh', size: 12, executable: true }],
      page: { has_more: false },
    });
    const content = (path: string) =>
      fetch(
        `${system.url}/api/v1${PATH}/${skillId}/versions/1/files/content?path=${encodeURIComponent(path)}`,
      );
    expect(await (await content('scripts/fill.sh')).text()).toBe('echo filled\n');
    expect((await content('absent')).status).toBe(404);
    expect((await content('scripts')).status).toBe(400);
    expect((await api.get(`${PATH}/${skillId}/versions/2`)).body.error?.code).toBe('SKILL_VERSION_NOT_FOUND');
    expect((await api.get(`${PATH}/${skillId}/versions/x/files`)).body.error?.code).toBe(
      'SKILL_VERSION_NOT_FOUND',
    );
    expect((await api.get(`${PATH}?q=PDF`)).body.data).toMatchObject([{ skill_id: skillId }]);
  });

  it('publishes versions, and none for the same files', async () => {
    const skillId = await created('versions', { 'a.txt': 'one' });
    const same = await tarGzOf([
      { name: 'versions/a.txt', data: 'one' },
      { name: 'versions/SKILL.md', data: skillFile('versions') },
    ]);
    expect(await send(`${PATH}/${skillId}/versions`, same, 'application/gzip')).toMatchObject({
      status: 200,
      data: { version: 1, revision: 1 },
    });
    expect(await publishVersion(skillId, skillZip('versions', { 'a.txt': 'two' }))).toMatchObject({
      status: 201,
      data: { version: 2, revision: 2 },
    });
    const { data } = (await api.get(`${PATH}/${skillId}/versions`)).body;
    expect(data).toMatchObject([{ version: 2 }, { version: 1 }]);
    expect(await publishVersion(skillId, skillZip('other'))).toMatchObject({
      status: 400,
      code: 'SKILL_INVALID',
      error: { details: [{ pointer: 'SKILL.md' }] },
    });
    expect(await publish(skillZip('versions'))).toMatchObject({ status: 409, code: 'NAME_TAKEN' });
  });

  it('creates one skill for requests with the same key', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const first = await send(PATH, skillZip('keyed'), 'application/zip', headers);
    const second = await send(PATH, skillZip('keyed'), 'application/zip', headers);
    expect(second).toMatchObject({ status: 201, data: { skill_id: first.data.skill_id } });
    const other = await send(PATH, skillZip('keyed-2'), 'application/zip', headers);
    expect(other.code).toBe('IDEMPOTENCY_KEY_CONFLICT');
  });

  it('leaves nothing behind after a refusal', async () => {
    const before = await stored();
    const refusals = [
      [zipOf([{ name: '../SKILL.md', data: 'x' }]), 400, 'SKILL_INVALID', '../SKILL.md'],
      [zipOf([{ name: 'SKILL.md', data: skillFile('Bad Name') }]), 400, 'SKILL_INVALID', 'SKILL.md'],
      [
        zipOf([
          { name: 'SKILL.md', data: skillFile('bomb') },
          { name: 'x', data: Buffer.alloc(8 * MIB) },
        ]),
        400,
        'SKILL_INVALID',
        'x',
      ],
      [Buffer.from('no archive'), 400, 'SKILL_INVALID', ''],
      [Buffer.of(), 400, 'SKILL_INVALID', ''],
      [skillZip('forms'), 409, 'NAME_TAKEN', undefined],
      [Buffer.alloc(20 * MIB + 1), 413, 'FILE_TOO_LARGE', undefined],
    ] as const;
    for (const [bytes, status, code, pointer] of refusals) {
      const answer = await publish(bytes);
      expect(answer).toMatchObject({ status, code });
      if (pointer !== undefined) expect(answer.error.details[0].pointer).toBe(pointer);
    }
    expect(await send(PATH, skillZip(), 'text/plain')).toMatchObject({ status: 415 });
    expect(await stored()).toEqual(before);
  });

  it('pins versions in the extensions of an agent', async () => {
    const skillId = await created('pinned');
    await publishVersion(skillId, skillZip('pinned', { 'a.txt': '2' }));
    const agentId = await api.createAgent();
    const path = `/agents/${agentId}/extensions`;
    const servers = { mcp_server_ids: [] };
    const first = await put(path, { ...servers, skill_ids: [skillId] });
    expect(first.body.data).toMatchObject({
      version: 2,
      skill_ids: [`${skillId}@2`],
      skills: [{ skill_id: skillId, name: 'pinned', version: 2, newest_version: 2, state: 'ready' }],
    });
    await publishVersion(skillId, skillZip('pinned', { 'a.txt': '3' }));
    // A skill that stays keeps its pin, and a request without skills changes none.
    expect((await put(path, { ...servers, skill_ids: [skillId] })).body.data).toMatchObject({
      version: 2,
      skills: [{ version: 2, newest_version: 3 }],
    });
    expect((await put(path, servers)).body.data).toMatchObject({ version: 2, skill_ids: [`${skillId}@2`] });
    expect((await put(path, { ...servers, skill_ids: [`${skillId}@1`] })).body.data).toMatchObject({
      version: 3,
      skill_ids: [`${skillId}@1`],
    });
    const code = async (skillIds: string[]) =>
      (await put(path, { ...servers, skill_ids: skillIds })).body.error?.code;
    expect(await code([`${skillId}@9`])).toBe('SKILL_VERSION_NOT_FOUND');
    expect(await code(['skl_01KAK3V9Q6W1X2Y3Z4A5B6C7D8'])).toBe('SKILL_NOT_FOUND');
    expect(await code([skillId, `${skillId}@1`])).toBe('INVALID_REQUEST');
    expect((await put(path, { ...servers, skill_ids: [] })).body.data).toMatchObject({
      version: 4,
      skills: [],
    });
  });

  it('serves the extensions of assistants', async () => {
    const skillId = await created('assisting');
    const { data } = (await api.post('/assistants', { name: 'Mine', model: 'rehearsal/echo' })).body;
    const path = `/assistants/${data.assistant_id}/extensions`;
    const answer = await put(path, { mcp_server_ids: [], skill_ids: [skillId] });
    expect(answer.body.data).toMatchObject({ skill_ids: [`${skillId}@1`] });
    expect((await api.get(path)).body.data).toMatchObject({ skills: [{ skill_id: skillId }] });
  });

  it('deletes an unused skill only, and tells its sessions', async () => {
    const skillId = await created('deleted');
    const agentId = await api.createAgent();
    const path = `/agents/${agentId}/extensions`;
    await put(path, { mcp_server_ids: [], skill_ids: [skillId] });
    const session = (await api.post(`/agents/${agentId}/conversations`)).body.data;
    const shown = async () => (await api.get(`/sessions/${session.session_id}/extensions`)).body.data;
    expect(await shown()).toEqual({
      credentials_available: true,
      mcp_servers: [],
      variables: [],
      skills: [{ skill_id: skillId, name: 'deleted', version: 1, state: 'ready', reason: '' }],
    });
    const patched = await api.send('PATCH', `${PATH}/${skillId}`, { enabled: false });
    expect(patched.body.data).toMatchObject({ enabled: false, revision: 2 });
    expect(await shown()).toMatchObject({
      skills: [{ state: 'disabled', reason: expect.stringContaining('disabled') }],
    });
    const remove = () => api.send('DELETE', `${PATH}/${skillId}`);
    expect((await remove()).body.error?.code).toBe('RESOURCE_IN_USE');
    await put(path, { mcp_server_ids: [], skill_ids: [] });
    expect((await remove()).body.data).toEqual({ skill_id: skillId, deleted: true });
    expect((await remove()).body.error?.code).toBe('SKILL_NOT_FOUND');
    expect(await shown()).toMatchObject({ skills: [{ name: 'deleted', state: 'deleted' }] });
  });

  it('never gives an agent a skill that is deleted at the same time', async () => {
    for (let round = 0; round < 6; round++) {
      const skillId = await created(`race-${round}`);
      const path = `/agents/${await api.createAgent()}/extensions`;
      const [given, removed] = await Promise.all([
        put(path, { mcp_server_ids: [], skill_ids: [skillId] }),
        api.send('DELETE', `${PATH}/${skillId}`),
      ]);
      expect([given.status, removed.status].sort()).toEqual([200, given.status === 200 ? 409 : 404].sort());
    }
  });
});
