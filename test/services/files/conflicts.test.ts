import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Change, Place } from '../../../proto/gen/ahs/files/v1/files.ts';
import {
  change,
  type FilesSystem,
  link,
  mkdir,
  move,
  ofSession,
  openFilesSystem,
  put,
  remove,
  treeOf,
  upload,
  workspace,
  write,
} from './system.ts';

describe('ChangeWorkspace with an older base version', () => {
  let system: FilesSystem;
  let place: Place;
  beforeAll(async () => {
    system = await openFilesSystem();
  });
  afterAll(() => system[Symbol.asyncDispose]());

  /** A workspace at version 1. Changes of other callers make version 2. */
  async function begin(
    texts: Record<string, string>,
    theirs: (place: Place) => Promise<unknown>,
  ): Promise<void> {
    place = ofSession(system.fakes.session());
    await write(system.edge, place, texts);
    await theirs(place);
  }

  const ours = (texts: Record<string, string>) => write(system.edge, place, texts, { base: 1 });
  const oursBy = (...changes: Change[]) => change(system.edge, place, changes, { base: 1 });
  const theirs = (texts: Record<string, string>) => (at: Place) => write(system.edge, at, texts);
  const theirsBy =
    (...changes: Change[]) =>
    (at: Place) =>
      change(system.edge, at, changes);

  it('applies changes of paths that others have not changed', async () => {
    await begin({ a: 'one', b: 'one' }, theirs({ a: 'theirs' }));
    const { conflicts } = await ours({ b: 'ours', c: 'ours' });
    expect(conflicts).toEqual([]);
    expect(await treeOf(system.edge, place)).toEqual({ a: 'theirs', b: 'ours', c: 'ours' });
  });

  it('stores a file beside an entry that another caller has changed', async () => {
    await begin({ 'd/report.tar.gz': 'one' }, theirs({ 'd/report.tar.gz': 'theirs' }));
    const { conflicts, entries } = await ours({ 'd/report.tar.gz': 'ours' });
    const keptAs = 'd/report.tar.conflict-v1.gz';
    expect(conflicts).toEqual([{ path: 'd/report.tar.gz', keptAs }]);
    expect(entries).toMatchObject([{ path: keptAs, size: 4 }]);
    expect(await treeOf(system.edge, place)).toEqual({
      d: '/',
      'd/report.tar.gz': 'theirs',
      [keptAs]: 'ours',
    });
    const again = await ours({ 'd/report.tar.gz': 'ours again' });
    expect(again.conflicts).toEqual([{ path: 'd/report.tar.gz', keptAs: 'd/report.tar.conflict-v1-2.gz' }]);
  });

  it.each([
    ['.bashrc', '.bashrc.conflict-v1'],
    ['Makefile', 'Makefile.conflict-v1'],
    ['a.b', 'a.conflict-v1.b'],
    [`${'x'.repeat(250)}.txt`, `${'x'.repeat(239)}.conflict-v1.txt`],
    [`${'ä'.repeat(127)}`, `${'ä'.repeat(121)}.conflict-v1`],
    [`a.${'long'.repeat(20)}`, `a.${'long'.repeat(20)}.conflict-v1`],
  ])('stores the conflict copy of %s as %s', async (path, keptAs) => {
    await begin({ [path]: 'one' }, theirs({ [path]: 'theirs' }));
    expect((await ours({ [path]: 'ours' })).conflicts).toEqual([{ path, keptAs }]);
  });

  it('reports no conflict when both callers wrote the same content', async () => {
    await begin({ a: 'one', gone: 'one' }, theirsBy(remove('gone'), mkdir('d'), link('l', 'a')));
    await write(system.edge, place, { a: 'the same' });
    const [same] = await upload(system.edge, place, ['the same']);
    const { conflicts } = await oursBy(put('a', same!.contentId), remove('gone'), mkdir('d'), link('l', 'a'));
    expect(conflicts).toEqual([]);
    expect((await workspace(system.edge, place)).version).toBe(3);
  });

  it('does not use a path of the same request for a conflict copy', async () => {
    await begin({ a: 'one', b: 'one' }, theirs({ a: 'theirs', b: 'theirs' }));
    const { conflicts } = await ours({
      a: 'ours',
      'a.conflict-v1': 'another',
      b: 'ours',
      'b.conflict-v1/c': 'another',
    });
    expect(conflicts).toEqual([
      { path: 'a', keptAs: 'a.conflict-v1-2' },
      { path: 'b', keptAs: 'b.conflict-v1-2' },
    ]);
    expect(await treeOf(system.edge, place)).toMatchObject({
      a: 'theirs',
      'a.conflict-v1': 'another',
      'a.conflict-v1-2': 'ours',
      'b.conflict-v1/c': 'another',
      'b.conflict-v1-2': 'ours',
    });
  });

  it('stores a conflict copy of a file that another caller has removed', async () => {
    await begin({ a: 'one' }, theirsBy(remove('a')));
    expect((await ours({ a: 'ours' })).conflicts).toEqual([{ path: 'a', keptAs: 'a.conflict-v1' }]);
    expect(await treeOf(system.edge, place)).toEqual({ 'a.conflict-v1': 'ours' });
  });

  it('does not remove an entry that another caller has changed', async () => {
    await begin(
      { a: 'one', 'd/x': 'one', 'd/y': 'one', 'd/e/z': 'one' },
      theirs({ a: 'theirs', 'd/x': 'theirs' }),
    );
    const { conflicts } = await oursBy(remove('a'), remove('d'));
    expect(conflicts).toEqual([
      { path: 'a', keptAs: '' },
      { path: 'd/x', keptAs: '' },
    ]);
    expect(await treeOf(system.edge, place)).toEqual({ a: 'theirs', d: '/', 'd/x': 'theirs' });
  });

  it('does not remove a directory with entries of another caller', async () => {
    await begin({ 'd/x': 'one' }, theirs({ 'd/new/file': 'theirs' }));
    expect((await oursBy(remove('d'))).conflicts).toEqual([{ path: 'd/new/file', keptAs: '' }]);
    expect(await treeOf(system.edge, place)).toEqual({ d: '/', 'd/new': '/', 'd/new/file': 'theirs' });
  });

  it('makes a directory beside a file that another caller has put at its path', async () => {
    await begin({ 'd/x': 'one' }, async (at) => {
      await change(system.edge, at, [remove('d')]);
      await write(system.edge, at, { d: 'a file now' });
    });
    const { conflicts } = await ours({ 'd/y': 'ours', 'd/z/w': 'ours' });
    expect(conflicts).toEqual([{ path: 'd', keptAs: 'd.conflict-v1' }]);
    expect(await treeOf(system.edge, place)).toEqual({
      d: 'a file now',
      'd.conflict-v1': '/',
      'd.conflict-v1/y': 'ours',
      'd.conflict-v1/z': '/',
      'd.conflict-v1/z/w': 'ours',
    });
  });

  it('stores a file beside a directory that another caller has made at its path', async () => {
    await begin({ a: 'one' }, async (at) => {
      await change(system.edge, at, [remove('a')]);
      await write(system.edge, at, { 'a/x': 'theirs' });
    });
    expect((await ours({ a: 'ours' })).conflicts).toEqual([{ path: 'a', keptAs: 'a.conflict-v1' }]);
    expect(await treeOf(system.edge, place)).toEqual({ a: '/', 'a/x': 'theirs', 'a.conflict-v1': 'ours' });
  });

  it('does not move or replace an entry that another caller has changed', async () => {
    await begin({ 'd/x': 'one', f: 'one', t: 'one' }, theirs({ 'd/x': 'theirs', t: 'theirs' }));
    const { conflicts, entries } = await oursBy(move('d', 'e'), move('f', 't', true));
    expect(conflicts).toEqual([
      { path: 'd', keptAs: '' },
      { path: 'f', keptAs: '' },
    ]);
    expect(entries).toMatchObject([{ path: 'd' }, { path: 'f' }]);
    expect(await treeOf(system.edge, place)).toEqual({ d: '/', 'd/x': 'theirs', f: 'one', t: 'theirs' });
  });

  it('reports no conflict between changes of the same request', async () => {
    await begin({ a: 'one', b: 'one' }, theirs({ a: 'theirs' }));
    const [one, two] = await upload(system.edge, place, ['first', 'second']);
    const { conflicts } = await oursBy(
      put('a', one!.contentId),
      put('a', two!.contentId),
      remove('b'),
      put('b', two!.contentId),
    );
    expect(conflicts).toEqual([{ path: 'a', keptAs: 'a.conflict-v1' }]);
    expect(await treeOf(system.edge, place)).toEqual({ a: 'theirs', 'a.conflict-v1': 'second', b: 'second' });
  });

  it('refuses a base version that does not exist yet', async () => {
    await begin({ a: 'one' }, async () => {});
    const refused = change(system.edge, place, [remove('a')], { base: 2 });
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });
});
