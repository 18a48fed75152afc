import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../../support/context.ts';
import { countOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import {
  changesOf,
  createUpload,
  type FilesSystem,
  MIB,
  OWNER,
  ofAssistant,
  ofSession,
  openFilesSystem,
  STRANGER,
  sha256,
  treeOf,
  workspace,
  write,
} from './system.ts';

const DAY_MS = 86_400_000;

describe.each(TRANSPORTS)('CreateUpload, %s', (transport) => {
  let system: FilesSystem;
  beforeAll(async () => {
    system = await openFilesSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());
  const count = (where: string) =>
    countOn(system.database.url, `select count(*) from files.uploads where ${where}`);

  it.each([0, 5, 3 * MIB + 1])('stores an upload of %i bytes that expires after a day', async (size) => {
    const bytes = Buffer.alloc(size, 'u');
    const upload = await createUpload(system.edge, bytes, {
      mediaType: 'Text/Plain; charset=utf-8',
      name: 'a.txt',
      size,
    });
    expect(upload).toMatchObject({
      uploadId: expect.stringMatching(/^upl_/),
      size,
      sha256: sha256(bytes),
      mediaType: 'text/plain; charset=utf-8',
      name: 'a.txt',
      replayed: false,
    });
    const lifetime = (upload.expiresAt?.getTime() ?? 0) - system.context.clock.now().getTime();
    expect(lifetime).toBeGreaterThan(DAY_MS - 60_000);
    expect(lifetime).toBeLessThanOrEqual(DAY_MS);
  });

  it('returns the first upload again for the same key and bytes', async () => {
    const key = 'the same key';
    const first = await createUpload(system.edge, 'once', { key });
    expect(await createUpload(system.edge, 'once', { key })).toEqual({ ...first, replayed: true });
    expect(await count(`sha256 = '${sha256('once')}'`)).toBe(1);
    await expect(createUpload(system.edge, 'other', { key })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_CONFLICT',
    });
    const others = await createUpload(system.edge, 'once', { key }, { caller: STRANGER });
    expect(others.uploadId).not.toBe(first.uploadId);
  });

  it.each([
    ['a malformed media type', { mediaType: 'plain' }, 'INVALID_REQUEST'],
    ['a name with a control character', { name: 'a\u0000' }, 'INVALID_REQUEST'],
    ['fewer bytes than declared', { size: 9 }, 'INVALID_REQUEST'],
    ['more bytes than declared', { size: 1 }, 'INVALID_REQUEST'],
    ['a declared size above 64 MiB', { size: 64 * MIB + 1 }, 'FILE_TOO_LARGE'],
  ])('refuses %s and stores nothing', async (_, facts, code) => {
    const before = await count('true');
    await expect(createUpload(system.edge, 'refused', facts)).rejects.toMatchObject({ code });
    expect(await count('true')).toBe(before);
  });

  it('refuses more than 64 MiB without a declared size', async () => {
    const bytes = Buffer.alloc(64 * MIB + 1);
    await expect(createUpload(system.edge, bytes)).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' });
    expect(await count(`size > ${32 * MIB}`)).toBe(0);
  });

  it('refuses a stream without a beginning and a call without a user', async () => {
    const refused = { code: 'INVALID_REQUEST' };
    async function* none() {}
    await expect(system.edge.createUpload(none(), { caller: OWNER })).rejects.toMatchObject(refused);
    async function* twice() {
      const value = { mediaType: 'text/plain', name: '', size: undefined, idempotencyKey: '' };
      yield { kind: { $case: 'begin' as const, value } };
      yield { kind: { $case: 'begin' as const, value } };
    }
    await expect(system.edge.createUpload(twice(), { caller: OWNER })).rejects.toMatchObject(refused);
    await expect(createUpload(system.edge, 'a', {}, {})).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});

describe.each(TRANSPORTS)('PlaceUploads, %s', (transport) => {
  let system: FilesSystem;
  beforeAll(async () => {
    system = await openFilesSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const place = (
    sessionId: string,
    files: [path: string, uploadId: string][],
    { assistantId = '', checkOnly = false } = {},
  ) =>
    system.sessions.placeUploads({
      ...{ sessionId, ownerId: OWNER.userId, assistantId, checkOnly },
      files: files.map(([path, uploadId]) => ({ path, uploadId })),
    });

  it('writes all uploads as one version of a session that does not exist yet', async () => {
    const sessionId = system.context.ids('ses');
    const one = await createUpload(system.edge, 'one');
    const two = await createUpload(system.edge, 'two');
    await place(sessionId, [
      ['a.txt', one.uploadId],
      ['d/b.txt', two.uploadId],
      ['copy.txt', one.uploadId],
    ]);
    system.fakes.create(sessionId);
    const tree = { 'a.txt': 'one', 'copy.txt': 'one', d: '/', 'd/b.txt': 'two' };
    expect(await treeOf(system.edge, ofSession(sessionId))).toEqual(tree);
    expect(await workspace(system.edge, ofSession(sessionId))).toMatchObject({ version: 1, files: 3 });
    const events = await until('the event is delivered', () => {
      const delivered = system.fakes.deliveredEvents(sessionId);
      return delivered.length > 0 && delivered;
    });
    expect(events.map(({ type, userId }) => [type, userId])).toEqual([['files.uploaded', OWNER.userId]]);
    expect(JSON.parse(events[0]?.dataJson ?? '')).toMatchObject({ file_count: 3, workspace_version: 1 });
  });

  it('delivers the event of a session that is created long after its files', async () => {
    const sessionId = system.context.ids('ses');
    const { uploadId } = await createUpload(system.edge, 'early');
    let attempts = 0;
    system.fakes.onAppend = (id) => void (id === sessionId && attempts++);
    await place(sessionId, [['a', uploadId]]);
    await until('the delivery is attempted', () => attempts > 0);
    system.fakes.create(sessionId);
    await until('the event is delivered', () => system.fakes.deliveredEvents(sessionId).length === 1);
  });

  it('has no further effect when it is repeated', async () => {
    const sessionId = system.fakes.session();
    const { uploadId } = await createUpload(system.edge, 'from the upload');
    await place(sessionId, [['a', uploadId]]);
    await write(system.edge, ofSession(sessionId), { a: 'changed by the turn' });
    await place(sessionId, [['a', uploadId]]);
    expect(await treeOf(system.edge, ofSession(sessionId))).toEqual({ a: 'changed by the turn' });
    expect(await changesOf(system.edge, ofSession(sessionId))).toHaveLength(2);
  });

  it('writes into the workspace of the assistant', async () => {
    const assistantId = system.fakes.assistant();
    await write(system.edge, ofAssistant(assistantId), { kept: 'kept' });
    const { uploadId } = await createUpload(system.edge, 'new');
    await place(system.fakes.session(OWNER, assistantId), [['a', uploadId]], { assistantId });
    expect(await treeOf(system.edge, ofAssistant(assistantId))).toEqual({ a: 'new', kept: 'kept' });
  });

  it('writes nothing when it only checks, and no row for the session', async () => {
    const sessionId = system.context.ids('ses');
    const { uploadId } = await createUpload(system.edge, 'checked');
    const rows = () =>
      countOn(
        system.database.url,
        'select (select count(*) from files.workspaces) + (select count(*) from files.unconfirmed_sessions) as count',
      );
    const before = await rows();
    await place(sessionId, [['a', uploadId]], { checkOnly: true });
    expect(await rows()).toBe(before);
  });

  it.each([false, true])(
    'refuses the files by their pointers and writes none, check only: %s',
    async (checkOnly) => {
      const sessionId = system.fakes.session();
      const mine = (await createUpload(system.edge, 'mine')).uploadId;
      const theirs = (await createUpload(system.edge, 'theirs', {}, { caller: STRANGER })).uploadId;
      for (const [files, code, pointer] of [
        [
          [
            ['a', mine],
            ['b', theirs],
          ],
          'UPLOAD_NOT_FOUND',
          '/1/upload_id',
        ],
        [
          [
            ['a', mine],
            ['b', 'upl_unknown'],
          ],
          'UPLOAD_NOT_FOUND',
          '/1/upload_id',
        ],
        [
          [
            ['a', mine],
            ['../b', mine],
          ],
          'INVALID_REQUEST',
          '/1/path',
        ],
        [
          [
            ['a', mine],
            ['a', mine],
          ],
          'INVALID_REQUEST',
          '/1/path',
        ],
      ] as const) {
        const placing = place(
          sessionId,
          files.map(([path, id]) => [path, id]),
          { checkOnly },
        );
        await expect(placing).rejects.toMatchObject({ code, details: [{ pointer }] });
      }
      await expect(
        place(
          sessionId,
          [
            ['a', mine],
            ['a/b', mine],
          ],
          { checkOnly },
        ),
      ).rejects.toMatchObject({ code: 'NAME_TAKEN' });
      expect(await treeOf(system.edge, ofSession(sessionId))).toEqual({});
    },
  );
});
