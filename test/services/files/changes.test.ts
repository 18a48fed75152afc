import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequiredState } from '../../../proto/gen/ahs/files/v1/files.ts';
import { TRANSPORTS } from '../../support/context.ts';
import {
  change,
  changesOf,
  type FilesSystem,
  link,
  list,
  mkdir,
  move,
  ofSession,
  openFilesSystem,
  pathsOf,
  put,
  readText,
  remove,
  sha256,
  treeOf,
  upload,
  workspace,
  workspaceOf,
  write,
} from './system.ts';

describe.each(TRANSPORTS)('ChangeWorkspace, %s', (transport) => {
  let system: FilesSystem;
  beforeAll(async () => {
    system = await openFilesSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const newPlace = () => ofSession(system.fakes.session());

  it('applies all changes as one version', async () => {
    const sessionId = system.fakes.session();
    const place = ofSession(sessionId);
    expect(await workspace(system.edge, place)).toMatchObject({ version: 0, files: 0, bytes: 0, lastSeq: 0 });
    const answer = await write(system.edge, place, { 'a.txt': 'one', 'src/b.txt': 'two two' });
    expect(answer).toMatchObject({
      workspace: {
        workspaceId: workspaceOf(sessionId),
        version: 1,
        oldestVersion: 0,
        files: 2,
        bytes: 10,
        lastSeq: 3,
      },
      entries: [
        { path: 'a.txt', kind: 'file', size: 3, sha256: sha256('one'), executable: false, target: '' },
        { path: 'src/b.txt', kind: 'file', size: 7, sha256: sha256('two two') },
      ],
      conflicts: [],
      replayed: false,
    });
    expect(await treeOf(system.edge, place)).toEqual({ 'a.txt': 'one', src: '/', 'src/b.txt': 'two two' });
    expect(await workspace(system.edge, place)).toEqual(answer.workspace);
  });

  it('writes a file only if the path has the required state', async () => {
    const place = newPlace();
    const replace = async (path: string, text: string, required: RequiredState) => {
      const [content] = await upload(system.edge, place, [text]);
      return change(system.edge, place, [put(path, content!.contentId, { required })]);
    };
    const absent = { exists: false, anyContent: false, sha256: [] };
    const present = { exists: true, anyContent: true, sha256: [] };
    const only = (...texts: string[]) => ({ exists: true, anyContent: false, sha256: texts.map(sha256) });
    const conflict = { code: 'VERSION_CONFLICT' };
    await expect(replace('a.txt', 'one', present)).rejects.toMatchObject(conflict);
    await expect(replace('a.txt', 'one', only('one'))).rejects.toMatchObject(conflict);
    await replace('a.txt', 'one', absent);
    await expect(replace('a.txt', 'two', absent)).rejects.toMatchObject(conflict);
    await expect(replace('a.txt', 'two', only())).rejects.toMatchObject(conflict);
    await expect(replace('a.txt', 'two', only('two'))).rejects.toMatchObject(conflict);
    await replace('a.txt', 'two', only('other', 'one'));
    await replace('a.txt', 'three', present);
    await change(system.edge, place, [mkdir('directory'), link('link', 'a.txt')]);
    for (const path of ['directory', 'link'])
      for (const required of [absent, present])
        await expect(replace(path, 'four', required)).rejects.toMatchObject(conflict);
    expect(await readText(system.edge, place, 'a.txt')).toBe('three');
  });

  it('accepts one of several concurrent replacements of the same content', async () => {
    const place = newPlace();
    await write(system.edge, place, { 'a.txt': 'one' });
    const contents = await upload(system.edge, place, ['two', 'three', 'four', 'five']);
    const required = { exists: true, anyContent: false, sha256: [sha256('one')] };
    const outcomes = await Promise.allSettled(
      contents.map(({ contentId }) => change(system.edge, place, [put('a.txt', contentId, { required })])),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'VERSION_CONFLICT' });
  });

  it('applies the changes in their order', async () => {
    const place = newPlace();
    const [one] = await upload(system.edge, place, ['one']);
    const id = one!.contentId;
    await change(system.edge, place, [
      put('a/b/c', id),
      move('a/b', 'x'),
      mkdir('a/b'),
      link('a/b/link', '../../x/c'),
      put('x/d', id, { executable: true }),
      remove('x/c'),
    ]);
    expect(await treeOf(system.edge, place)).toEqual({
      a: '/',
      'a/b': '/',
      'a/b/link': '→ ../../x/c',
      x: '/',
      'x/d': 'one',
    });
    expect(await workspace(system.edge, place)).toMatchObject({ version: 1, files: 2, bytes: 3 });
  });

  it('changes nothing when one of the changes is refused', async () => {
    const place = newPlace();
    await write(system.edge, place, { a: 'one' });
    const [two] = await upload(system.edge, place, ['two']);
    const refused = change(system.edge, place, [put('b', two!.contentId), remove('nowhere')]);
    await expect(refused).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
    expect(await treeOf(system.edge, place)).toEqual({ a: 'one' });
    expect(await workspace(system.edge, place)).toMatchObject({ version: 1, lastSeq: 1 });
  });

  it('makes no version when nothing differs', async () => {
    const place = newPlace();
    await write(system.edge, place, { 'd/a': 'one' });
    const [one] = await upload(system.edge, place, ['one']);
    const answer = await change(system.edge, place, [
      put('d/a', one!.contentId),
      mkdir('d'),
      remove('nowhere', true),
      move('d/a', 'd/a'),
    ]);
    expect(answer.workspace).toMatchObject({ version: 1, lastSeq: 2 });
    expect(pathsOf(answer.entries)).toEqual(['d/a', 'd', 'd/a']);
  });

  it('stores the executable bit and the modification time of a file', async () => {
    const place = newPlace();
    const [one] = await upload(system.edge, place, ['one']);
    const id = one!.contentId;
    const modifiedAt = new Date('2020-02-02T02:02:02.002Z');
    await change(system.edge, place, [put('run.sh', id, { executable: true, modifiedAt })]);
    const entry = async () => (await list(system.edge, place))[0];
    expect(await entry()).toMatchObject({ executable: true, modifiedAt });
    await change(system.edge, place, [put('run.sh', id, { modifiedAt })]);
    expect(await entry()).toMatchObject({ executable: false, modifiedAt });
    const later = new Date('2021-01-01T00:00:00.000Z');
    expect(
      (await change(system.edge, place, [put('run.sh', id, { modifiedAt: later })])).workspace?.version,
    ).toBe(3);
    const never = new Date(8.64e15);
    await change(system.edge, place, [put('run.sh', id, { modifiedAt: never })]);
    expect((await entry())?.modifiedAt?.getUTCFullYear()).toBe(9999);
  });

  it('replaces a file or a symlink with a file, and refuses to replace a directory', async () => {
    const place = newPlace();
    await write(system.edge, place, { 'd/f': 'one' });
    await change(system.edge, place, [link('l', 'd/f')]);
    await write(system.edge, place, { l: 'no link any more' });
    expect(await treeOf(system.edge, place)).toEqual({ d: '/', 'd/f': 'one', l: 'no link any more' });
    await expect(write(system.edge, place, { d: 'two' })).rejects.toMatchObject({ code: 'NAME_TAKEN' });
    await expect(write(system.edge, place, { 'l/x': 'two' })).rejects.toMatchObject({ code: 'NAME_TAKEN' });
    await expect(change(system.edge, place, [mkdir('l')])).rejects.toMatchObject({ code: 'NAME_TAKEN' });
  });

  it('moves files and directories, and replaces a target only with overwrite', async () => {
    const place = newPlace();
    await write(system.edge, place, { 'a/1': 'one', 'a/b/2': 'two', 'c/3': 'three', f: 'file' });
    await expect(change(system.edge, place, [move('a', 'c')])).rejects.toMatchObject({ code: 'NAME_TAKEN' });
    const answer = await change(system.edge, place, [move('a', 'c', true)]);
    expect(answer.entries).toMatchObject([{ path: 'c', kind: 'directory' }]);
    expect(await treeOf(system.edge, place)).toEqual({
      c: '/',
      'c/1': 'one',
      'c/b': '/',
      'c/b/2': 'two',
      f: 'file',
    });
    await change(system.edge, place, [move('f', 'new/deep/g')]);
    expect(await readText(system.edge, place, 'new/deep/g')).toBe('file');
    await change(system.edge, place, [move('c', 'new/deep/g', true)]);
    expect(await readText(system.edge, place, 'new/deep/g/b/2')).toBe('two');
    expect(await workspace(system.edge, place)).toMatchObject({ files: 2, bytes: 6 });
  });

  it.each([
    ['into itself', 'a', 'a/b'],
    ['into itself, deeper', 'a', 'a/b/c/d'],
    ['over a directory that it is in', 'a/b', 'a'],
  ])('does not move a directory %s', async (_, from, to) => {
    const place = newPlace();
    await write(system.edge, place, { 'a/b/c': 'one' });
    await expect(change(system.edge, place, [move(from, to, true)])).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
  });

  it('refuses a move that makes a path too long', async () => {
    const place = newPlace();
    const long = Array.from({ length: 4 }, () => 'x'.repeat(240)).join('/');
    await write(system.edge, place, { [`a/${long}`]: 'one' });
    const moving = change(system.edge, place, [move('a', 'y'.repeat(100))]);
    await expect(moving).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('removes a directory with everything in it', async () => {
    const place = newPlace();
    await write(system.edge, place, { 'a/1': 'one', 'a/b/2': 'two', 'a-b': 'beside', a0: 'beside' });
    await change(system.edge, place, [remove('a')]);
    expect(await treeOf(system.edge, place)).toEqual({ 'a-b': 'beside', a0: 'beside' });
    expect(await workspace(system.edge, place)).toMatchObject({ files: 2, bytes: 12 });
  });

  it('lists deletions before creations in ListChanges', async () => {
    const place = newPlace();
    await write(system.edge, place, { 'a/1': 'one', 'a/b/2': 'two', c: 'three' });
    await write(system.edge, place, { c: 'four' });
    await change(system.edge, place, [move('a', 'z'), remove('c')]);
    const changes = await changesOf(system.edge, place);
    expect(changes.map(({ seq }) => seq)).toEqual(changes.map((_, index) => index + 1));
    const listed = changes.map(
      ({ kind, entry, workspaceVersion }) => `${workspaceVersion} ${kind} ${entry?.path}`,
    );
    expect(listed).toEqual([
      '1 created a',
      '1 created a/1',
      '1 created a/b',
      '1 created a/b/2',
      '1 created c',
      '2 modified c',
      '3 deleted a',
      '3 deleted c',
      '3 created z',
      '3 created z/1',
      '3 created z/b',
      '3 created z/b/2',
    ]);
    expect(changes[5]).toMatchObject({ entry: { kind: 'file', size: 4, sha256: sha256('four') } });
    expect(changes[6]).toMatchObject({ entry: { path: 'a', kind: '', size: 0, sha256: '' } });
    expect(pathsOf((await changesOf(system.edge, place, 8, 3)).map(({ entry }) => entry!))).toEqual([
      'z',
      'z/1',
      'z/b',
      'z/b/2',
    ]);
  });

  it('returns the stored answer for a repeated idempotency key', async () => {
    const place = newPlace();
    const [one, two] = await upload(system.edge, place, ['one', 'two']);
    const first = await change(system.edge, place, [put('a', one!.contentId)], { key: 'once' });
    await change(system.edge, place, [put('a', two!.contentId)]);
    const again = await change(system.edge, place, [put('a', one!.contentId)], { key: 'once' });
    expect(again).toEqual({ ...first, replayed: true });
    expect(await readText(system.edge, place, 'a')).toBe('two');
    const other = change(system.edge, place, [put('b', one!.contentId)], { key: 'once' });
    await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_CONFLICT' });
  });

  it('applies concurrent changes of one workspace as separate versions', async () => {
    const place = newPlace();
    const contents = await upload(
      system.edge,
      place,
      Array.from({ length: 20 }, (_, index) => `file ${index}`),
    );
    const answers = await Promise.all(
      contents.map(({ contentId }, index) => change(system.edge, place, [put(`d/${index}`, contentId)])),
    );
    const versions = answers.map(({ workspace: one }) => one?.version ?? 0).sort((a, b) => a - b);
    expect(versions).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(await list(system.edge, place, 'd')).toHaveLength(20);
    expect((await changesOf(system.edge, place)).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 21 }, (_, index) => index + 1),
    );
  });

  it.each([
    ['', 'must not be empty'],
    ['/etc/passwd', 'relative'],
    ['../up', '".."'],
    ['a/../../b', '".."'],
    ['a/./b', '"."'],
    ['a//b', 'empty part'],
    ['a/', 'trailing slash'],
    ['a\0b', 'control character'],
    ['a\nb', 'control character'],
    ['x'.repeat(256), '255 bytes'],
    ['ä'.repeat(128), '255 bytes'],
    [Array.from({ length: 5 }, () => 'x'.repeat(250)).join('/'), '1024 bytes'],
    ['.ahs-secret', '.ahs-'],
    ['a/.ahs-x/b', '.ahs-'],
  ])('refuses the path %j', async (path, reason) => {
    const place = newPlace();
    const [one] = await upload(system.edge, place, ['one']);
    for (const each of [
      put(path, one!.contentId),
      mkdir(path),
      link(path, 'x'),
      remove(path),
      move(path, 'b'),
      move('b', path),
    ]) {
      const refused = change(system.edge, place, [each]);
      await expect(refused).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
        message: expect.stringContaining(reason),
      });
    }
  });

  it('stores names without normalization', async () => {
    const place = newPlace();
    const names = [
      'é',
      'e\u0301',
      'A',
      'a',
      'back\\slash',
      ' leading',
      '-rf',
      '~',
      '😀',
      '\u{10ffff}',
      '$(x)',
      "'",
      '…',
      '.a',
      '...',
    ];
    const sorted = [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    await write(system.edge, place, Object.fromEntries(names.map((name) => [name, name])));
    expect(pathsOf(await list(system.edge, place))).toEqual(sorted);
    expect(pathsOf(await list(system.edge, place, '', false, 3))).toEqual(sorted);
    for (const name of names) expect(await readText(system.edge, place, name)).toBe(name);
  });

  it.each(['', 'x\0', 'x'.repeat(5_000)])('refuses the invalid symlink target %#', async (target) => {
    const refused = change(system.edge, newPlace(), [link('l', target)]);
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });
});
