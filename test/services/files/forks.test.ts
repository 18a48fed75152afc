import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../../support/context.ts';
import { countOn } from '../../support/sql.ts';
import {
  change,
  changesOf,
  type House,
  list,
  mkdir,
  move,
  OWNER,
  ofSession,
  openHouse,
  pathsOf,
  put,
  readText,
  remove,
  STRANGER,
  treeOf,
  upload,
  workspace,
  write,
} from './house.ts';

const caller = OWNER;

describe.each(TRANSPORTS)('ForkWorkspace, %s', (transport) => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse(transport);
  });
  afterAll(() => house[Symbol.asyncDispose]());

  async function fork(fromSessionId: string, version?: number): Promise<string> {
    const toSessionId = house.neighbours.session();
    await house.sessions.forkWorkspace({ fromSessionId, version, toSessionId }, { caller });
    return toSessionId;
  }

  it('makes a workspace that is as the other one was, and each goes its own way', async () => {
    const from = house.neighbours.session();
    const place = ofSession(from);
    await write(house.edge, place, { a: 'one', 'd/b': 'one', 'd/c': 'one' });
    const other = ofSession(await fork(from));
    const tree = { a: 'one', d: '/', 'd/b': 'one', 'd/c': 'one' };
    expect(await treeOf(house.edge, other)).toEqual(tree);
    expect(await workspace(house.edge, other)).toMatchObject({
      version: 1,
      oldestVersion: 1,
      files: 3,
      bytes: 9,
      lastSeq: 0,
    });
    await write(house.edge, other, { a: 'fork', 'd/new': 'fork' });
    await change(house.edge, other, [remove('d/b')]);
    await write(house.edge, place, { a: 'origin', 'd/b': 'origin' });
    await change(house.edge, place, [remove('d/c')]);
    expect(await treeOf(house.edge, other)).toEqual({ a: 'fork', d: '/', 'd/c': 'one', 'd/new': 'fork' });
    expect(await treeOf(house.edge, place)).toEqual({ a: 'origin', d: '/', 'd/b': 'origin' });
    expect(await workspace(house.edge, other)).toMatchObject({ version: 3, files: 3, lastSeq: 3 });
    expect((await changesOf(house.edge, other)).map(({ kind, entry }) => `${kind} ${entry?.path}`)).toEqual([
      'modified a',
      'created d/new',
      'deleted d/b',
    ]);
  });

  it('shows what there was as of any version that is kept', async () => {
    const from = house.neighbours.session();
    const place = ofSession(from);
    await write(house.edge, place, { a: 'one' });
    await write(house.edge, place, { a: 'two', b: 'two' });
    await change(house.edge, place, [remove('a')]);
    expect(await treeOf(house.edge, ofSession(await fork(from, 0)))).toEqual({});
    expect(await treeOf(house.edge, ofSession(await fork(from, 1)))).toEqual({ a: 'one' });
    const second = ofSession(await fork(from, 2));
    expect(await treeOf(house.edge, second)).toEqual({ a: 'two', b: 'two' });
    expect(await workspace(house.edge, second)).toMatchObject({ version: 2, files: 2, bytes: 6 });
    expect(await treeOf(house.edge, ofSession(await fork(from, 99)))).toEqual({ b: 'two' });
  });

  it('forks forks, and what is gone in one stays gone', async () => {
    const first = house.neighbours.session();
    await write(house.edge, ofSession(first), { 'd/1': '1', 'd/2': '2', 'd/3': '3', 'd/e/4': '4' });
    const second = await fork(first);
    await change(house.edge, ofSession(second), [remove('d/1'), move('d/e', 'e')]);
    const third = await fork(second);
    await write(house.edge, ofSession(third), { 'd/1': 'again', 'd/2': 'other' });
    const fourth = await fork(third);
    await change(house.edge, ofSession(fourth), [remove('d')]);
    expect(await treeOf(house.edge, ofSession(first))).toEqual({
      d: '/',
      'd/1': '1',
      'd/2': '2',
      'd/3': '3',
      'd/e': '/',
      'd/e/4': '4',
    });
    expect(await treeOf(house.edge, ofSession(second))).toEqual({
      d: '/',
      'd/2': '2',
      'd/3': '3',
      e: '/',
      'e/4': '4',
    });
    expect(await treeOf(house.edge, ofSession(third))).toEqual({
      d: '/',
      'd/1': 'again',
      'd/2': 'other',
      'd/3': '3',
      e: '/',
      'e/4': '4',
    });
    expect(await treeOf(house.edge, ofSession(fourth))).toEqual({ e: '/', 'e/4': '4' });
    expect(pathsOf(await list(house.edge, ofSession(fourth), '', false, 1))).toEqual(['e']);
    await change(house.edge, ofSession(fourth), [mkdir('d')]);
    expect(await treeOf(house.edge, ofSession(fourth))).toEqual({ d: '/', e: '/', 'e/4': '4' });
  });

  it('goes on and on: a long chain shows the right things, page by page', async () => {
    let session = house.neighbours.session();
    const expected: Record<string, string> = {};
    for (let depth = 0; depth < 40; depth++) {
      const texts = { [`f${depth}`]: `${depth}`, [`f${Math.floor(depth / 2)}`]: `changed at ${depth}` };
      await write(house.edge, ofSession(session), texts);
      Object.assign(expected, texts);
      if (depth % 3 === 2) {
        await change(house.edge, ofSession(session), [remove(`f${depth - 1}`)]);
        delete expected[`f${depth - 1}`];
      }
      session = await fork(session);
    }
    expect(await treeOf(house.edge, ofSession(session))).toEqual(expected);
    const sorted = Object.keys(expected).sort();
    for (const limit of [1, 2, 7]) {
      expect(pathsOf(await list(house.edge, ofSession(session), '', true, limit))).toEqual(sorted);
      expect(pathsOf(await list(house.edge, ofSession(session), '', false, limit))).toEqual(sorted);
    }
    const deepest = await countOn(
      house.database.url,
      'select max(cardinality(parent_ids)) as count from files.workspaces',
    );
    expect(deepest).toBeLessThanOrEqual(15);
    expect((await workspace(house.edge, ofSession(session))).files).toBe(sorted.length);
  });

  it('makes a handful of rows, however much there is', async () => {
    const from = house.neighbours.session();
    const [content] = await upload(house.edge, ofSession(from), ['one']);
    const many = Array.from({ length: 5_000 }, (_, index) =>
      put(`d${index % 10}/f${index}`, content!.contentId),
    );
    await change(house.edge, ofSession(from), many);
    const count = () => countOn(house.database.url, 'select count(*) from files.entries');
    const before = await count();
    const to = await fork(from);
    expect(await count()).toBe(before);
    expect(await workspace(house.edge, ofSession(to))).toMatchObject({ files: 5_000 });
    await write(house.edge, ofSession(to), { x: 'y' });
    expect(await count()).toBe(before + 1);
  });

  it('changes nothing when it is asked for a second time', async () => {
    const from = house.neighbours.session();
    await write(house.edge, ofSession(from), { a: 'one' });
    const toSessionId = house.neighbours.session();
    const request = { fromSessionId: from, version: undefined, toSessionId };
    expect(await house.sessions.forkWorkspace(request, { caller })).toEqual({ version: 1 });
    await write(house.edge, ofSession(from), { a: 'two' });
    await write(house.edge, ofSession(toSessionId), { b: 'fork' });
    expect(await house.sessions.forkWorkspace(request, { caller })).toEqual({ version: 1 });
    expect(await treeOf(house.edge, ofSession(toSessionId))).toEqual({ a: 'one', b: 'fork' });
    const third = house.neighbours.session();
    const other = house.sessions.forkWorkspace({ ...request, fromSessionId: third }, { caller });
    await expect(other).rejects.toMatchObject({ code: 'NAME_TAKEN' });
  });

  it('forks what nobody has changed yet, and what comes later does not show', async () => {
    const from = house.neighbours.session();
    const to = await fork(from);
    await write(house.edge, ofSession(from), { a: 'later' });
    const toSessionId = to;
    await house.sessions.forkWorkspace({ fromSessionId: from, version: undefined, toSessionId }, { caller });
    expect(await treeOf(house.edge, ofSession(to))).toEqual({});
    await write(house.edge, ofSession(to), { b: 'own' });
    expect(await treeOf(house.edge, ofSession(to))).toEqual({ b: 'own' });
  });

  it('does not fork what belongs to somebody else', async () => {
    const from = house.neighbours.session(STRANGER);
    await write(house.edge, ofSession(from), { a: 'secret' }, { call: { caller: STRANGER } });
    await expect(fork(from)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  it('shows one version, whatever happens meanwhile', async () => {
    const from = house.neighbours.session();
    const place = ofSession(from);
    await write(house.edge, place, { a: '0', b: '0' });
    const changing = (async () => {
      for (let round = 1; round <= 20; round++)
        await write(house.edge, place, { a: `${round}`, b: `${round}` });
    })();
    const forks = await Promise.all(Array.from({ length: 10 }, () => fork(from)));
    await changing;
    for (const one of forks) {
      const tree = await treeOf(house.edge, ofSession(one));
      expect(tree.a).toBe(tree.b);
      expect(await readText(house.edge, ofSession(one), 'a')).toBe(tree.a);
    }
  });
});
