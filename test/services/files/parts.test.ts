import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewPart } from '../../../proto/gen/ahs/files/v1/files.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { countOn } from '../../support/sql.ts';
import {
  change,
  createUpload,
  type FilesSystem,
  link,
  MIB,
  mkdir,
  OWNER,
  ofAssistant,
  ofSession,
  openFilesSystem,
  readPart,
  remove,
  STRANGER,
  sha256,
  uploadOf,
  write,
} from './system.ts';

const IMAGES: Record<string, Buffer> = {
  'image/png': Buffer.from('\x89PNG\r\n\x1a\nthe rest', 'latin1'),
  'image/jpeg': Buffer.from('\xff\xd8\xff\xe0the rest', 'latin1'),
  'image/gif': Buffer.from('GIF89athe rest', 'latin1'),
  'image/webp': Buffer.from('RIFF\x10\x00\x00\x00WEBPVP8 ', 'latin1'),
};
const PNG = IMAGES['image/png'] ?? Buffer.alloc(0);
const UNKNOWN_UPLOAD = 'upl_00000000000000000000000001';

const part = (more: Partial<NewPart>): NewPart => ({
  type: 'file',
  mediaType: '',
  name: '',
  attachment: undefined,
  ...more,
});
const data = (value: Uint8Array) => ({ source: { $case: 'data' as const, value: Buffer.from(value) } });
const path = (value: string) => ({ source: { $case: 'path' as const, value } });
const uploadId = (value: string) => ({ source: { $case: 'uploadId' as const, value } });
const text = (value: string, more: Partial<NewPart> = {}) =>
  part({ mediaType: 'text/plain', attachment: data(Buffer.from(value)), ...more });

describe.each(TRANSPORTS)('StoreParts and ReadPart, %s', (transport) => {
  let system: FilesSystem;
  beforeAll(async () => {
    system = await openFilesSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const store = async (sessionId: string, parts: NewPart[], assistantId = '') =>
    (await system.sessions.storeParts({ sessionId, ownerId: OWNER.userId, assistantId, parts })).parts;
  const refusal = (code: string, pointer: string) => ({ code, details: [{ pointer }] });

  it('stores parts of a session that does not exist yet', async () => {
    const sessionId = system.context.ids('ses');
    const [stored] = await store(sessionId, [text('hello', { name: 'hello.txt' })]);
    expect(stored).toEqual({ sha256: sha256('hello'), size: 5, mediaType: 'text/plain', name: 'hello.txt' });
    await expect(readPart(system.edge, sessionId, sha256('hello'))).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
  });

  it('checks parts without storing them', async () => {
    const sessionId = system.fakes.session();
    const { uploadId: id } = await createUpload(system.edge, 'an upload', { name: 'notes.txt' });
    const check = (parts: NewPart[]) =>
      system.sessions.storeParts({
        ...{ sessionId, ownerId: OWNER.userId, assistantId: '', parts, checkOnly: true },
      });
    const counts = () =>
      countOn(
        system.database.url,
        'select (select count(*) from files.parts) + (select count(*) from files.contents)',
      );
    const before = await counts();
    const checked = await check([part({ attachment: uploadId(id) }), text('hello')]);
    expect(checked.parts.map(({ mediaType, name }) => [mediaType, name])).toEqual([
      ['text/plain', 'notes.txt'],
      ['text/plain', ''],
    ]);
    await expect(check([part({ attachment: uploadId(UNKNOWN_UPLOAD) })])).rejects.toMatchObject(
      refusal('UPLOAD_NOT_FOUND', '/0/upload_id'),
    );
    expect(await counts()).toBe(before);
  });

  it('returns the bytes of parts from data, a path and an upload', async () => {
    const sessionId = system.fakes.session();
    await write(system.edge, ofSession(sessionId), { 'd/report.pdf': 'a report' });
    const { uploadId: id } = await createUpload(system.edge, 'an upload', { name: 'notes.txt' });
    const stored = await store(sessionId, [
      part({ type: 'image', mediaType: 'IMAGE/PNG', attachment: data(PNG) }),
      part({ attachment: path('d/report.pdf') }),
      part({ attachment: uploadId(id) }),
    ]);
    expect(stored.map(({ mediaType, name }) => [mediaType, name])).toEqual([
      ['image/png', ''],
      ['application/pdf', 'report.pdf'],
      ['text/plain', 'notes.txt'],
    ]);
    const read = await Promise.all(stored.map((one) => readPart(system.edge, sessionId, one.sha256)));
    expect(read.map(({ bytes }) => String(bytes))).toEqual([String(PNG), 'a report', 'an upload']);
    expect(read.map((one) => one.part)).toEqual(stored);
  });

  it('stores equal parts once and has no further effect when it is repeated', async () => {
    const sessionId = system.fakes.session();
    const parts = [text('twice', { name: 'first' }), text('twice', { name: 'second' })];
    const stored = await store(sessionId, parts);
    expect(stored.map(({ name }) => name)).toEqual(['first', 'second']);
    expect(await store(sessionId, parts)).toEqual(stored);
    const where = `session_id = '${sessionId}'`;
    expect(await countOn(system.database.url, `select count(*) from files.parts where ${where}`)).toBe(1);
    expect((await readPart(system.edge, sessionId, sha256('twice'))).part?.name).toBe('first');
  });

  it('keeps the bytes of a part when the file is changed and deleted', async () => {
    const sessionId = system.fakes.session();
    const place = ofSession(sessionId);
    await write(system.edge, place, { a: 'before' });
    await store(sessionId, [part({ mediaType: 'text/plain', attachment: path('a') })]);
    await write(system.edge, place, { a: 'after' });
    await change(system.edge, place, [remove('a')]);
    expect(String((await readPart(system.edge, sessionId, sha256('before'))).bytes)).toBe('before');
  });

  it('reads paths of the workspace of the assistant', async () => {
    const assistantId = system.fakes.assistant();
    await write(system.edge, ofAssistant(assistantId), { a: 'of the assistant' });
    const sessionId = system.fakes.session(OWNER, assistantId);
    const [stored] = await store(sessionId, [part({ attachment: path('a') })], assistantId);
    expect(stored).toMatchObject({
      sha256: sha256('of the assistant'),
      mediaType: 'application/octet-stream',
    });
  });

  it('returns ranges', async () => {
    const sessionId = system.fakes.session();
    const bytes = Buffer.concat([Buffer.alloc(MIB, 'a'), Buffer.alloc(MIB, 'b')]);
    await store(sessionId, [part({ mediaType: 'text/plain', attachment: data(bytes) })]);
    const digest = sha256(bytes);
    const middle = await readPart(system.edge, sessionId, digest, { offset: MIB - 2, length: 4 });
    expect(String(middle.bytes)).toBe('aabb');
    expect((await readPart(system.edge, sessionId, digest)).bytes.equals(bytes)).toBe(true);
    await expect(readPart(system.edge, sessionId, digest, { offset: 2 * MIB })).rejects.toMatchObject({
      code: 'RANGE_NOT_SATISFIABLE',
    });
  });

  it('returns parts only to readers of the session and to the runner of its turn', async () => {
    const sessionId = system.fakes.session();
    await store(sessionId, [text('shared')]);
    const digest = sha256('shared');
    const lease = system.fakes.lease(sessionId);
    expect(String((await readPart(system.runner, sessionId, digest, { lease })).bytes)).toBe('shared');
    const foreign = { call: { caller: STRANGER } };
    await expect(readPart(system.edge, sessionId, digest, foreign)).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    system.fakes.shareWith(sessionId, STRANGER);
    expect(String((await readPart(system.edge, sessionId, digest, foreign)).bytes)).toBe('shared');
    const absent = { code: 'PART_NOT_FOUND' };
    for (const one of [sha256('absent'), '', 'shared', digest.toUpperCase()])
      await expect(readPart(system.edge, sessionId, one)).rejects.toMatchObject(absent);
    await expect(readPart(system.edge, system.fakes.session(), digest)).rejects.toMatchObject(absent);
  });

  it.each(Object.keys(IMAGES))('accepts %s only with the bytes of such an image', async (mediaType) => {
    const sessionId = system.fakes.session();
    for (const [type, bytes] of Object.entries(IMAGES)) {
      const storing = store(sessionId, [part({ type: 'image', mediaType, attachment: data(bytes) })]);
      if (type === mediaType) await storing;
      else await expect(storing).rejects.toMatchObject(refusal('INVALID_REQUEST', '/0/media_type'));
    }
  });

  it('checks the bytes of images from paths and uploads', async () => {
    const sessionId = system.fakes.session();
    await write(system.edge, ofSession(sessionId), { 'a.png': 'no image', 'b.png': PNG });
    const { uploadId: id } = await createUpload(system.edge, 'no image', { mediaType: 'image/gif' });
    const image = (attachment: NewPart['attachment']) => part({ type: 'image', attachment });
    const mismatch = refusal('INVALID_REQUEST', '/0/media_type');
    await expect(store(sessionId, [image(path('a.png'))])).rejects.toMatchObject(mismatch);
    await expect(store(sessionId, [image(uploadId(id))])).rejects.toMatchObject(mismatch);
    expect(await store(sessionId, [image(path('b.png'))])).toMatchObject([{ mediaType: 'image/png' }]);
  });

  it.each<[string, Partial<NewPart>, string, string]>([
    ['an unknown type', { type: 'text' }, 'INVALID_REQUEST', '/7/type'],
    ['no source', { attachment: undefined }, 'INVALID_REQUEST', '/7'],
    ['no media type', { mediaType: '' }, 'INVALID_REQUEST', '/7/media_type'],
    ['a malformed media type', { mediaType: 'text\r\nplain' }, 'INVALID_REQUEST', '/7/media_type'],
    ['an image of another type', { type: 'image' }, 'INVALID_REQUEST', '/7/media_type'],
    ['a control character in the name', { name: 'a\nb' }, 'INVALID_REQUEST', '/7/name'],
    ['a name that is too long', { name: 'ä'.repeat(128) }, 'INVALID_REQUEST', '/7/name'],
    ['data that is too long', { attachment: data(Buffer.alloc(5 * MIB + 1)) }, 'INVALID_REQUEST', '/7/data'],
    ['an absolute path', { attachment: path('/etc/passwd') }, 'INVALID_REQUEST', '/7/path'],
    ['a directory', { attachment: path('d') }, 'INVALID_REQUEST', '/7/path'],
    ['a symlink', { attachment: path('link') }, 'INVALID_REQUEST', '/7/path'],
    ['a missing file', { attachment: path('missing') }, 'FILE_NOT_FOUND', '/7/path'],
    ['a path beyond a symlink', { attachment: path('link/b') }, 'FILE_NOT_FOUND', '/7/path'],
    ['a file that is too large', { attachment: path('large') }, 'FILE_TOO_LARGE', '/7/path'],
    ['an unknown upload', { attachment: uploadId(UNKNOWN_UPLOAD) }, 'UPLOAD_NOT_FOUND', '/7/upload_id'],
    ['no upload id', { attachment: uploadId('\u0000') }, 'UPLOAD_NOT_FOUND', '/7/upload_id'],
  ])('refuses %s by the pointer of the part and stores nothing', async (_, more, code, pointer) => {
    const sessionId = system.fakes.session();
    const large = Buffer.alloc(64 * MIB + 1);
    await write(system.edge, ofSession(sessionId), {
      'd/b': 'in a directory',
      ...(more.attachment?.source?.value === 'large' && { large }),
    });
    await change(system.edge, ofSession(sessionId), [mkdir('d'), link('link', 'd')]);
    const parts = [text('the first'), text('the second', { index: 7, ...more })];
    await expect(store(sessionId, parts)).rejects.toMatchObject(refusal(code, pointer));
    expect(
      await countOn(
        system.database.url,
        `select count(*) from files.parts where session_id = '${sessionId}'`,
      ),
    ).toBe(0);
    const digests = `'${sha256('the first')}', '${sha256('the second')}'`;
    expect(
      await countOn(system.database.url, `select count(*) from files.contents where sha256 in (${digests})`),
    ).toBe(0);
  });

  it('refuses an upload of another user', async () => {
    const { uploadId: id } = await createUpload(system.edge, 'theirs', {}, { caller: STRANGER });
    const storing = store(system.fakes.session(), [part({ attachment: uploadId(id) })]);
    await expect(storing).rejects.toMatchObject(refusal('UPLOAD_NOT_FOUND', '/0/upload_id'));
  });

  it('stores what a runner has written under its lease, up to 64 MiB in one part', async () => {
    const sessionId = system.fakes.session();
    const lease = system.fakes.lease(sessionId);
    const large = Buffer.alloc(64 * MIB, 'l');
    const uploads = uploadOf(ofSession(sessionId), [PNG, large], lease);
    const { contents } = await system.runner.writeContents(uploads);
    const made = contents.map(({ contentId }, index) =>
      part({
        type: index === 0 ? 'image' : 'file',
        mediaType: index === 0 ? 'image/png' : 'video/mp4',
        contentId,
      }),
    );
    const request = { sessionId, ownerId: '', assistantId: '', parts: made, lease };
    const { parts: stored } = await system.runner.storeParts(request);
    expect(stored.map(({ mediaType, size }) => [mediaType, size])).toEqual([
      ['image/png', PNG.length],
      ['video/mp4', 64 * MIB],
    ]);
    expect((await readPart(system.edge, sessionId, sha256(large))).bytes.equals(large)).toBe(true);
    const other = { ...request, parts: [part({ mediaType: 'text/plain', contentId: 'cnt_unknown' })] };
    await expect(system.runner.storeParts(other)).rejects.toMatchObject(refusal('FILE_NOT_FOUND', '/0'));
    system.fakes.lease(sessionId);
    await expect(system.runner.storeParts(request)).rejects.toMatchObject({ code: 'LEASE_LOST' });
    const withoutLease = { ...request, ownerId: OWNER.userId, lease: undefined };
    await expect(system.runner.storeParts(withoutLease)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('refuses what a runner has written for another owner', async () => {
    const theirs = system.fakes.session(STRANGER);
    const uploads = uploadOf(ofSession(theirs), ['of a stranger'], system.fakes.lease(theirs));
    const { contents } = await system.runner.writeContents(uploads);
    const sessionId = system.fakes.session();
    const parts = [part({ mediaType: 'text/plain', contentId: contents[0]?.contentId })];
    const request = { sessionId, ownerId: '', assistantId: '', parts, lease: system.fakes.lease(sessionId) };
    await expect(system.runner.storeParts(request)).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  });

  it('stores an earlier part of the session again by its digest', async () => {
    const sessionId = system.fakes.session();
    await store(sessionId, [text('once', { name: 'a.txt' })]);
    const again = (digest: string) => part({ attachment: { source: { $case: 'sha256', value: digest } } });
    expect(await store(sessionId, [again(sha256('once'))])).toEqual([
      { sha256: sha256('once'), size: 4, mediaType: 'text/plain', name: 'a.txt' },
    ]);
    const unknown = store(system.fakes.session(), [again(sha256('once'))]);
    await expect(unknown).rejects.toMatchObject(refusal('PART_NOT_FOUND', '/0'));
  });

  it('limits the number of parts and the sum of their data', async () => {
    const sessionId = system.fakes.session();
    const many = (count: number) => Array.from({ length: count }, (_, index) => text(`part ${index}`));
    expect(await store(sessionId, many(32))).toHaveLength(32);
    await expect(store(sessionId, many(33))).rejects.toMatchObject(refusal('INVALID_REQUEST', ''));
    const sized = (...sizes: number[]) =>
      sizes.map((size) => part({ mediaType: 'text/plain', attachment: data(Buffer.alloc(size)) }));
    expect(await store(sessionId, sized(5 * MIB, 2 * MIB))).toHaveLength(2);
    const over = refusal('INVALID_REQUEST', '/2/data');
    await expect(store(sessionId, sized(5 * MIB, 2 * MIB, 1))).rejects.toMatchObject(over);
  });
});
