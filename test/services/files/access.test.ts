import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallOptions } from '../../../lib/grpc/contract.ts';
import type { Place } from '../../../proto/gen/ahs/files/v1/files.ts';
import {
  change,
  changesOf,
  type Files,
  type House,
  list,
  mkdir,
  OWNER,
  ofAssistant,
  ofSession,
  openHouse,
  put,
  read,
  readText,
  STRANGER,
  treeOf,
  upload,
  workspace,
  write,
} from './house.ts';

const caller = OWNER;

/** Every call that a place is named in. */
function callsOn(files: Files, place: Place, options: CallOptions): [string, () => Promise<unknown>][] {
  const page = { limit: 10, cursor: '' };
  const lease = undefined;
  const asked = { place, lease, path: 'a' };
  return [
    ['WriteContents', () => upload(files, place, ['x'], options)],
    ['ChangeWorkspace', () => change(files, place, [mkdir('d')], { call: options })],
    ['GetWorkspace', () => files.getWorkspace({ place }, options)],
    ['ListEntries', () => files.listEntries({ place, lease, page, path: '', recursive: true }, options)],
    ['GetEntry', () => files.getEntry(asked, options)],
    [
      'ReadContent',
      () =>
        Array.fromAsync(
          files.readContent({ ...asked, version: undefined, offset: 0, length: undefined }, options),
        ),
    ],
    ['ReadArchive', () => Array.fromAsync(files.readArchive({ place, path: '', maxBytes: 1e6 }, options))],
    ['ListChanges', () => files.listChanges({ place, afterSeq: 0, page }, options)],
  ];
}

describe('whose workspaces are', () => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse();
  });
  afterAll(() => house[Symbol.asyncDispose]());

  it('a session of somebody else is not there, for any call', async () => {
    const place = ofSession(house.neighbours.session());
    await write(house.edge, place, { a: 'mine' });
    for (const [name, call] of callsOn(house.edge, place, { caller: STRANGER })) {
      await expect(call(), name).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    }
    expect(await treeOf(house.edge, place)).toEqual({ a: 'mine' });
  });

  it('an assistant of somebody else is not there either', async () => {
    const place = ofAssistant(house.neighbours.assistant());
    await write(house.edge, place, { a: 'mine' });
    for (const [name, call] of callsOn(house.edge, place, { caller: STRANGER })) {
      await expect(call(), name).rejects.toMatchObject({ code: 'ASSISTANT_NOT_FOUND' });
    }
  });

  it.each(['session', 'assistant'] as const)(
    'who sees the %s of somebody else reads, and changes nothing',
    async (kind) => {
      const id = house.neighbours[kind]();
      const place = kind === 'session' ? ofSession(id) : ofAssistant(id);
      await write(house.edge, place, { a: 'mine' });
      house.neighbours.show(id, STRANGER);
      const changes = new Set(['WriteContents', 'ChangeWorkspace']);
      for (const [name, call] of callsOn(house.edge, place, { caller: STRANGER })) {
        if (changes.has(name)) await expect(call(), name).rejects.toMatchObject({ code: 'FORBIDDEN' });
        else await call();
      }
      expect(await readText(house.edge, place, 'a', { call: { caller: STRANGER } })).toBe('mine');
      expect(await treeOf(house.edge, place)).toEqual({ a: 'mine' });
    },
  );

  it.each(['', 'x', 'ses_', 'ast_00000000000000000000000000', "ses_' or 1=1"])(
    'the session %j is not there',
    async (id) => {
      for (const [name, call] of callsOn(house.edge, ofSession(id), { caller })) {
        await expect(call(), name).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
      }
    },
  );

  it('nobody may ask for no place, or as nobody', async () => {
    const place = ofSession(house.neighbours.session());
    for (const [name, call] of callsOn(house.edge, { of: undefined }, { caller })) {
      await expect(call(), name).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    }
    for (const [name, call] of callsOn(house.edge, place, {})) {
      await expect(call(), name).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    }
  });

  it('only those services ask that have a reason to', async () => {
    const sessionId = house.neighbours.session();
    const place = ofSession(sessionId);
    for (const [name, call] of callsOn(house.as('deployments'), place, { caller })) {
      await expect(call(), name).rejects.toMatchObject({ code: 'FORBIDDEN' });
    }
    const refused = { code: 'FORBIDDEN' };
    const fork = { fromSessionId: sessionId, toSessionId: sessionId, version: undefined };
    await expect(house.edge.forkWorkspace(fork, { caller })).rejects.toMatchObject(refused);
    await expect(house.edge.deleteWorkspace({ place }, { caller })).rejects.toMatchObject(refused);
    await expect(house.runner.deleteWorkspace({ place }, { caller })).rejects.toMatchObject(refused);
  });

  it('sessions of an assistant, and its owner, work on one workspace', async () => {
    const assistantId = house.neighbours.assistant();
    const [one, two] = [
      house.neighbours.session(OWNER, assistantId),
      house.neighbours.session(OWNER, assistantId),
    ];
    await write(house.edge, ofSession(one), { a: 'by one' });
    await write(house.edge, ofAssistant(assistantId), { b: 'by the owner' });
    const tree = { a: 'by one', b: 'by the owner' };
    for (const place of [ofSession(one), ofSession(two), ofAssistant(assistantId)]) {
      expect(await treeOf(house.edge, place)).toEqual(tree);
    }
    const changes = await changesOf(house.edge, ofAssistant(assistantId));
    expect(changes.map(({ sessionId }) => sessionId)).toEqual([one, '']);
    expect(house.neighbours.told(one)).toHaveLength(1);
    expect(house.neighbours.told(two)).toHaveLength(0);
  });

  it('an archived session can be read, and not be changed', async () => {
    const sessionId = house.neighbours.session();
    const place = ofSession(sessionId);
    await write(house.edge, place, { a: 'mine' });
    house.neighbours.archive(sessionId);
    const archived = { code: 'SESSION_ARCHIVED' };
    await expect(upload(house.edge, place, ['x'])).rejects.toMatchObject(archived);
    await expect(change(house.edge, place, [mkdir('d')])).rejects.toMatchObject(archived);
    expect(await readText(house.edge, place, 'a')).toBe('mine');
    expect(await workspace(house.edge, place)).toMatchObject({ version: 1 });
  });

  it('a cursor belongs to one list', async () => {
    const [one, two] = [ofSession(house.neighbours.session()), ofSession(house.neighbours.session())];
    for (const place of [one, two]) await write(house.edge, place, { a: '1', b: '2', 'd/c': '3' });
    const request = {
      place: one,
      lease: undefined,
      page: { limit: 1, cursor: '' },
      path: '',
      recursive: false,
    };
    const cursor = (await house.edge.listEntries(request, { caller })).page?.nextCursor ?? '';
    const page = { limit: 1, cursor };
    for (const other of [{ place: two }, { path: 'd' }, { recursive: true }]) {
      const refused = house.edge.listEntries({ ...request, page, ...other }, { caller });
      await expect(refused).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
    }
    const changes = house.edge.listChanges({ place: one, afterSeq: 0, page }, { caller });
    await expect(changes).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
  });

  it.each([0, -1, 1_001])('a page has no limit of %d', async (limit) => {
    const place = ofSession(house.neighbours.session());
    await expect(list(house.edge, place, '', true, limit)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('changes cannot be asked for after one that there is not', async () => {
    const place = ofSession(house.neighbours.session());
    await write(house.edge, place, { a: '1' });
    expect(await changesOf(house.edge, place, 1)).toEqual([]);
    await expect(changesOf(house.edge, place, 2)).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
  });
});

describe('workspaces with a quota', () => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse('in process', {}, { workspaceMaxBytes: 100, workspaceMaxFiles: 5 });
  });
  afterAll(() => house[Symbol.asyncDispose]());

  const over = { code: 'QUOTA_EXCEEDED' };

  it('hold no more bytes, and nothing of a change that would exceed it', async () => {
    const place = ofSession(house.neighbours.session());
    expect(await workspace(house.edge, place)).toMatchObject({ maxFiles: 5, maxBytes: 100 });
    await write(house.edge, place, { a: 'x'.repeat(60) });
    await expect(write(house.edge, place, { b: 'small', c: 'x'.repeat(41) })).rejects.toMatchObject(over);
    expect(await treeOf(house.edge, place)).toEqual({ a: 'x'.repeat(60) });
    await write(house.edge, place, { b: 'x'.repeat(40) });
    await expect(write(house.edge, place, { b: 'x'.repeat(41) })).rejects.toMatchObject(over);
    await write(house.edge, place, { a: 'less' });
    await write(house.edge, place, { b: 'x'.repeat(41) });
    expect(await workspace(house.edge, place)).toMatchObject({ bytes: 45 });
  });

  it('hold no more files, and no more directories', async () => {
    const place = ofSession(house.neighbours.session());
    const [content] = await upload(house.edge, place, ['']);
    const files = (count: number) =>
      Array.from({ length: count }, (_, index) => put(`f${index}`, content!.contentId));
    await expect(change(house.edge, place, files(6))).rejects.toMatchObject(over);
    await change(house.edge, place, files(5));
    await expect(change(house.edge, place, [put('one-more', content!.contentId)])).rejects.toMatchObject(
      over,
    );
    await expect(change(house.edge, place, [mkdir('a/b/c/d/e/f')])).rejects.toMatchObject(over);
    await change(house.edge, place, [mkdir('a/b/c/d/e')]);
  });

  it('keep it when many add at once', async () => {
    const place = ofSession(house.neighbours.session());
    const [content] = await upload(house.edge, place, ['x'.repeat(30)]);
    const all = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        change(house.edge, place, [put(`f${index}`, content!.contentId)]),
      ),
    );
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(await workspace(house.edge, place)).toMatchObject({ files: 3, bytes: 90 });
    expect((await read(house.edge, place, (await list(house.edge, place))[0]!.path)).length).toBe(30);
  });
});
