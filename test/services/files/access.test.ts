import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallOptions } from '../../../lib/grpc/contract.ts';
import type { Place } from '../../../proto/gen/ahs/files/v1/files.ts';
import {
  change,
  changesOf,
  type Files,
  type FilesSystem,
  list,
  mkdir,
  OWNER,
  ofAssistant,
  ofSession,
  openFilesSystem,
  put,
  read,
  readText,
  STRANGER,
  treeOf,
  upload,
  workspace,
  write,
} from './system.ts';

const caller = OWNER;

/** Every RPC with a place. */
function callsOn(files: Files, place: Place, options: CallOptions): [string, () => Promise<unknown>][] {
  const page = { limit: 10, cursor: '' };
  const lease = undefined;
  const request = { place, lease, path: 'a' };
  return [
    ['WriteContents', () => upload(files, place, ['x'], options)],
    ['ChangeWorkspace', () => change(files, place, [mkdir('d')], { call: options })],
    ['GetWorkspace', () => files.getWorkspace({ place }, options)],
    ['ListEntries', () => files.listEntries({ place, lease, page, path: '', recursive: true }, options)],
    ['GetEntry', () => files.getEntry(request, options)],
    [
      'ReadContent',
      () =>
        Array.fromAsync(
          files.readContent({ ...request, version: undefined, offset: 0, length: undefined }, options),
        ),
    ],
    ['ReadArchive', () => Array.fromAsync(files.readArchive({ place, path: '', maxBytes: 1e6 }, options))],
    ['ListChanges', () => files.listChanges({ place, afterSeq: 0, page }, options)],
  ];
}

describe('access to workspaces', () => {
  let system: FilesSystem;
  beforeAll(async () => {
    system = await openFilesSystem();
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it('returns SESSION_NOT_FOUND from every RPC for a session of another user', async () => {
    const place = ofSession(system.fakes.session());
    await write(system.edge, place, { a: 'mine' });
    for (const [name, call] of callsOn(system.edge, place, { caller: STRANGER })) {
      await expect(call(), name).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    }
    expect(await treeOf(system.edge, place)).toEqual({ a: 'mine' });
  });

  it('returns ASSISTANT_NOT_FOUND for an assistant of another user', async () => {
    const place = ofAssistant(system.fakes.assistant());
    await write(system.edge, place, { a: 'mine' });
    for (const [name, call] of callsOn(system.edge, place, { caller: STRANGER })) {
      await expect(call(), name).rejects.toMatchObject({ code: 'ASSISTANT_NOT_FOUND' });
    }
  });

  it.each(['session', 'assistant'] as const)(
    'lets a reader of another user’s %s read and refuses changes',
    async (kind) => {
      const id = system.fakes[kind]();
      const place = kind === 'session' ? ofSession(id) : ofAssistant(id);
      await write(system.edge, place, { a: 'mine' });
      system.fakes.shareWith(id, STRANGER);
      const changes = new Set(['WriteContents', 'ChangeWorkspace']);
      for (const [name, call] of callsOn(system.edge, place, { caller: STRANGER })) {
        if (changes.has(name)) await expect(call(), name).rejects.toMatchObject({ code: 'FORBIDDEN' });
        else await call();
      }
      expect(await readText(system.edge, place, 'a', { call: { caller: STRANGER } })).toBe('mine');
      expect(await treeOf(system.edge, place)).toEqual({ a: 'mine' });
    },
  );

  it.each(['', 'x', 'ses_', 'ast_00000000000000000000000000', "ses_' or 1=1"])(
    'the session %j is not there',
    async (id) => {
      for (const [name, call] of callsOn(system.edge, ofSession(id), { caller })) {
        await expect(call(), name).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
      }
    },
  );

  it('refuses calls without a place or without a user', async () => {
    const place = ofSession(system.fakes.session());
    for (const [name, call] of callsOn(system.edge, { of: undefined }, { caller })) {
      await expect(call(), name).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    }
    for (const [name, call] of callsOn(system.edge, place, {})) {
      await expect(call(), name).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    }
  });

  it('refuses calls from services that are not listed as peers', async () => {
    const sessionId = system.fakes.session();
    const place = ofSession(sessionId);
    for (const [name, call] of callsOn(system.as('deployments'), place, { caller })) {
      await expect(call(), name).rejects.toMatchObject({ code: 'FORBIDDEN' });
    }
    const refused = { code: 'FORBIDDEN' };
    const fork = { fromSessionId: sessionId, toSessionId: sessionId, version: undefined };
    await expect(system.edge.forkWorkspace(fork, { caller })).rejects.toMatchObject(refused);
    await expect(system.edge.deleteWorkspace({ place }, { caller })).rejects.toMatchObject(refused);
    await expect(system.runner.deleteWorkspace({ place }, { caller })).rejects.toMatchObject(refused);
  });

  it('uses one workspace for an assistant and all its sessions', async () => {
    const assistantId = system.fakes.assistant();
    const [one, two] = [system.fakes.session(OWNER, assistantId), system.fakes.session(OWNER, assistantId)];
    await write(system.edge, ofSession(one), { a: 'by one' });
    await write(system.edge, ofAssistant(assistantId), { b: 'by the owner' });
    const tree = { a: 'by one', b: 'by the owner' };
    for (const place of [ofSession(one), ofSession(two), ofAssistant(assistantId)]) {
      expect(await treeOf(system.edge, place)).toEqual(tree);
    }
    const changes = await changesOf(system.edge, ofAssistant(assistantId));
    expect(changes.map(({ sessionId }) => sessionId)).toEqual([one, '']);
    expect(system.fakes.deliveredEvents(one)).toHaveLength(1);
    expect(system.fakes.deliveredEvents(two)).toHaveLength(0);
  });

  it('allows reads and refuses changes of an archived session', async () => {
    const sessionId = system.fakes.session();
    const place = ofSession(sessionId);
    await write(system.edge, place, { a: 'mine' });
    system.fakes.archive(sessionId);
    const archived = { code: 'SESSION_ARCHIVED' };
    await expect(upload(system.edge, place, ['x'])).rejects.toMatchObject(archived);
    await expect(change(system.edge, place, [mkdir('d')])).rejects.toMatchObject(archived);
    expect(await readText(system.edge, place, 'a')).toBe('mine');
    expect(await workspace(system.edge, place)).toMatchObject({ version: 1 });
  });

  it('refuses a cursor of another list with INVALID_CURSOR', async () => {
    const [one, two] = [ofSession(system.fakes.session()), ofSession(system.fakes.session())];
    for (const place of [one, two]) await write(system.edge, place, { a: '1', b: '2', 'd/c': '3' });
    const request = {
      place: one,
      lease: undefined,
      page: { limit: 1, cursor: '' },
      path: '',
      recursive: false,
    };
    const cursor = (await system.edge.listEntries(request, { caller })).page?.nextCursor ?? '';
    const page = { limit: 1, cursor };
    for (const other of [{ place: two }, { path: 'd' }, { recursive: true }]) {
      const refused = system.edge.listEntries({ ...request, page, ...other }, { caller });
      await expect(refused).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
    }
    const changes = system.edge.listChanges({ place: one, afterSeq: 0, page }, { caller });
    await expect(changes).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
  });

  it.each([0, -1, 101])('refuses the page limit %d', async (limit) => {
    const place = ofSession(system.fakes.session());
    await expect(list(system.edge, place, '', true, limit)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
  });

  it('refuses ListChanges after an unknown sequence number', async () => {
    const place = ofSession(system.fakes.session());
    await write(system.edge, place, { a: '1' });
    expect(await changesOf(system.edge, place, 1)).toEqual([]);
    await expect(changesOf(system.edge, place, 2)).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
  });
});

describe('the limits of a workspace', () => {
  let system: FilesSystem;
  beforeAll(async () => {
    system = await openFilesSystem('in process', {}, { workspaceMaxBytes: 100, workspaceMaxFiles: 5 });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const over = { code: 'QUOTA_EXCEEDED' };

  it('refuse a change beyond the size limit as a whole', async () => {
    const place = ofSession(system.fakes.session());
    expect(await workspace(system.edge, place)).toMatchObject({ maxFiles: 5, maxBytes: 100 });
    await write(system.edge, place, { a: 'x'.repeat(60) });
    await expect(write(system.edge, place, { b: 'small', c: 'x'.repeat(41) })).rejects.toMatchObject(over);
    expect(await treeOf(system.edge, place)).toEqual({ a: 'x'.repeat(60) });
    await write(system.edge, place, { b: 'x'.repeat(40) });
    await expect(write(system.edge, place, { b: 'x'.repeat(41) })).rejects.toMatchObject(over);
    await write(system.edge, place, { a: 'less' });
    await write(system.edge, place, { b: 'x'.repeat(41) });
    expect(await workspace(system.edge, place)).toMatchObject({ bytes: 45 });
  });

  it('apply to files and to directories separately', async () => {
    const place = ofSession(system.fakes.session());
    const [content] = await upload(system.edge, place, ['']);
    const files = (count: number) =>
      Array.from({ length: count }, (_, index) => put(`f${index}`, content!.contentId));
    await expect(change(system.edge, place, files(6))).rejects.toMatchObject(over);
    await change(system.edge, place, files(5));
    await expect(change(system.edge, place, [put('one-more', content!.contentId)])).rejects.toMatchObject(
      over,
    );
    await expect(change(system.edge, place, [mkdir('a/b/c/d/e/f')])).rejects.toMatchObject(over);
    await change(system.edge, place, [mkdir('a/b/c/d/e')]);
  });

  it('hold for concurrent changes', async () => {
    const place = ofSession(system.fakes.session());
    const [content] = await upload(system.edge, place, ['x'.repeat(30)]);
    const all = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        change(system.edge, place, [put(`f${index}`, content!.contentId)]),
      ),
    );
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(await workspace(system.edge, place)).toMatchObject({ files: 3, bytes: 90 });
    expect((await read(system.edge, place, (await list(system.edge, place))[0]!.path)).length).toBe(30);
  });
});
