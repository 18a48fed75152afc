import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../../support/context.ts';
import { countOn } from '../../support/sql.ts';
import {
  change,
  changesOf,
  type FilesSystem,
  list,
  mkdir,
  move,
  OWNER,
  ofSession,
  openFilesSystem,
  pathsOf,
  put,
  readText,
  remove,
  STRANGER,
  treeOf,
  upload,
  workspace,
  write,
} from './system.ts';

const caller = OWNER;

describe.each(TRANSPORTS)('ForkWorkspace, %s', (transport) => {
  let system: FilesSystem;
  beforeAll(async () => {
    system = await openFilesSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  async function fork(fromSessionId: string, version?: number): Promise<string> {
    const toSessionId = system.fakes.session();
    await system.sessions.forkWorkspace({ fromSessionId, version, toSessionId }, { caller });
    return toSessionId;
  }

  it('makes an equal workspace, and later changes of both stay separate', async () => {
    const from = system.fakes.session();
    const place = ofSession(from);
    await write(system.edge, place, { a: 'one', 'd/b': 'one', 'd/c': 'one' });
    const other = ofSession(await fork(from));
    const tree = { a: 'one', d: '/', 'd/b': 'one', 'd/c': 'one' };
    expect(await treeOf(system.edge, other)).toEqual(tree);
    expect(await workspace(system.edge, other)).toMatchObject({
      version: 1,
      oldestVersion: 1,
      files: 3,
      bytes: 9,
      lastSeq: 0,
    });
    await write(system.edge, other, { a: 'fork', 'd/new': 'fork' });
    await change(system.edge, other, [remove('d/b')]);
    await write(system.edge, place, { a: 'origin', 'd/b': 'origin' });
    await change(system.edge, place, [remove('d/c')]);
    expect(await treeOf(system.edge, other)).toEqual({ a: 'fork', d: '/', 'd/c': 'one', 'd/new': 'fork' });
    expect(await treeOf(system.edge, place)).toEqual({ a: 'origin', d: '/', 'd/b': 'origin' });
    expect(await workspace(system.edge, other)).toMatchObject({ version: 3, files: 3, lastSeq: 3 });
    expect((await changesOf(system.edge, other)).map(({ kind, entry }) => `${kind} ${entry?.path}`)).toEqual([
      'modified a',
      'created d/new',
      'deleted d/b',
    ]);
  });

  it('forks any retained version', async () => {
    const from = system.fakes.session();
    const place = ofSession(from);
    await write(system.edge, place, { a: 'one' });
    await write(system.edge, place, { a: 'two', b: 'two' });
    await change(system.edge, place, [remove('a')]);
    expect(await treeOf(system.edge, ofSession(await fork(from, 0)))).toEqual({});
    expect(await treeOf(system.edge, ofSession(await fork(from, 1)))).toEqual({ a: 'one' });
    const second = ofSession(await fork(from, 2));
    expect(await treeOf(system.edge, second)).toEqual({ a: 'two', b: 'two' });
    expect(await workspace(system.edge, second)).toMatchObject({ version: 2, files: 2, bytes: 6 });
    expect(await treeOf(system.edge, ofSession(await fork(from, 99)))).toEqual({ b: 'two' });
  });

  it('forks forks and keeps removed entries removed', async () => {
    const first = system.fakes.session();
    await write(system.edge, ofSession(first), { 'd/1': '1', 'd/2': '2', 'd/3': '3', 'd/e/4': '4' });
    const second = await fork(first);
    await change(system.edge, ofSession(second), [remove('d/1'), move('d/e', 'e')]);
    const third = await fork(second);
    await write(system.edge, ofSession(third), { 'd/1': 'again', 'd/2': 'other' });
    const fourth = await fork(third);
    await change(system.edge, ofSession(fourth), [remove('d')]);
    expect(await treeOf(system.edge, ofSession(first))).toEqual({
      d: '/',
      'd/1': '1',
      'd/2': '2',
      'd/3': '3',
      'd/e': '/',
      'd/e/4': '4',
    });
    expect(await treeOf(system.edge, ofSession(second))).toEqual({
      d: '/',
      'd/2': '2',
      'd/3': '3',
      e: '/',
      'e/4': '4',
    });
    expect(await treeOf(system.edge, ofSession(third))).toEqual({
      d: '/',
      'd/1': 'again',
      'd/2': 'other',
      'd/3': '3',
      e: '/',
      'e/4': '4',
    });
    expect(await treeOf(system.edge, ofSession(fourth))).toEqual({ e: '/', 'e/4': '4' });
    expect(pathsOf(await list(system.edge, ofSession(fourth), '', false, 1))).toEqual(['e']);
    await change(system.edge, ofSession(fourth), [mkdir('d')]);
    expect(await treeOf(system.edge, ofSession(fourth))).toEqual({ d: '/', e: '/', 'e/4': '4' });
  });

  it('lists the right entries in pages for a long chain of forks', async () => {
    let session = system.fakes.session();
    const expected: Record<string, string> = {};
    for (let depth = 0; depth < 40; depth++) {
      const texts = { [`f${depth}`]: `${depth}`, [`f${Math.floor(depth / 2)}`]: `changed at ${depth}` };
      await write(system.edge, ofSession(session), texts);
      Object.assign(expected, texts);
      if (depth % 3 === 2) {
        await change(system.edge, ofSession(session), [remove(`f${depth - 1}`)]);
        delete expected[`f${depth - 1}`];
      }
      session = await fork(session);
    }
    expect(await treeOf(system.edge, ofSession(session))).toEqual(expected);
    const sorted = Object.keys(expected).sort();
    for (const limit of [1, 2, 7]) {
      expect(pathsOf(await list(system.edge, ofSession(session), '', true, limit))).toEqual(sorted);
      expect(pathsOf(await list(system.edge, ofSession(session), '', false, limit))).toEqual(sorted);
    }
    const deepest = await countOn(
      system.database.url,
      'select max(cardinality(parent_ids)) as count from files.workspaces',
    );
    expect(deepest).toBeLessThanOrEqual(15);
    expect((await workspace(system.edge, ofSession(session))).files).toBe(sorted.length);
  });

  it('inserts a constant number of rows regardless of the size', async () => {
    const from = system.fakes.session();
    const [content] = await upload(system.edge, ofSession(from), ['one']);
    const many = Array.from({ length: 5_000 }, (_, index) =>
      put(`d${index % 10}/f${index}`, content!.contentId),
    );
    await change(system.edge, ofSession(from), many);
    const count = () => countOn(system.database.url, 'select count(*) from files.entries');
    const before = await count();
    const to = await fork(from);
    expect(await count()).toBe(before);
    expect(await workspace(system.edge, ofSession(to))).toMatchObject({ files: 5_000 });
    await write(system.edge, ofSession(to), { x: 'y' });
    expect(await count()).toBe(before + 1);
  });

  it('has no effect when it is repeated', async () => {
    const from = system.fakes.session();
    await write(system.edge, ofSession(from), { a: 'one' });
    const toSessionId = system.fakes.session();
    const request = { fromSessionId: from, version: undefined, toSessionId };
    expect(await system.sessions.forkWorkspace(request, { caller })).toEqual({ version: 1 });
    await write(system.edge, ofSession(from), { a: 'two' });
    await write(system.edge, ofSession(toSessionId), { b: 'fork' });
    expect(await system.sessions.forkWorkspace(request, { caller })).toEqual({ version: 1 });
    expect(await treeOf(system.edge, ofSession(toSessionId))).toEqual({ a: 'one', b: 'fork' });
    const third = system.fakes.session();
    const other = system.sessions.forkWorkspace({ ...request, fromSessionId: third }, { caller });
    await expect(other).rejects.toMatchObject({ code: 'NAME_TAKEN' });
  });

  it('forks a workspace that was never changed, and later changes of the source do not show', async () => {
    const from = system.fakes.session();
    const to = await fork(from);
    await write(system.edge, ofSession(from), { a: 'later' });
    const toSessionId = to;
    await system.sessions.forkWorkspace({ fromSessionId: from, version: undefined, toSessionId }, { caller });
    expect(await treeOf(system.edge, ofSession(to))).toEqual({});
    await write(system.edge, ofSession(to), { b: 'own' });
    expect(await treeOf(system.edge, ofSession(to))).toEqual({ b: 'own' });
  });

  it('refuses a workspace of another user', async () => {
    const from = system.fakes.session(STRANGER);
    await write(system.edge, ofSession(from), { a: 'secret' }, { call: { caller: STRANGER } });
    await expect(fork(from)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  it('shows one consistent version during concurrent changes', async () => {
    const from = system.fakes.session();
    const place = ofSession(from);
    await write(system.edge, place, { a: '0', b: '0' });
    const changing = (async () => {
      for (let round = 1; round <= 20; round++)
        await write(system.edge, place, { a: `${round}`, b: `${round}` });
    })();
    const forks = await Promise.all(Array.from({ length: 10 }, () => fork(from)));
    await changing;
    for (const one of forks) {
      const tree = await treeOf(system.edge, ofSession(one));
      expect(tree.a).toBe(tree.b);
      expect(await readText(system.edge, ofSession(one), 'a')).toBe(tree.a);
    }
  });
});
