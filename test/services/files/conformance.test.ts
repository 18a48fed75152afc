import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Lease } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { connect, createContext } from '../../support/context.ts';
import { createFakeFiles } from '../runner/fake-files.ts';
import {
  change,
  type Files,
  link,
  MIB,
  mkdir,
  ofSession,
  openFilesSystem,
  put,
  readText,
  remove,
  sha256,
  upload,
  WorkspaceCopy,
  workspaceOf,
  write,
} from './system.ts';

/** An implementation of the part of the contract that runners use. */
interface Implementation extends AsyncDisposable {
  runner: Files;
  /** A new session with a leased turn. */
  lease(): Lease;
  /** Makes the lease invalid. */
  revoke(lease: Lease): void;
  /** The owner of the session writes files. */
  writeAsOwner(sessionId: string, texts: Record<string, string>): Promise<void>;
}

const MAX_BYTES = MIB;

async function openService(): Promise<Implementation> {
  const system = await openFilesSystem('in process', {}, { workspaceMaxBytes: MAX_BYTES });
  return {
    runner: system.runner,
    lease: () => system.fakes.lease(system.fakes.session()),
    revoke: ({ sessionId }) => void system.fakes.lease(sessionId),
    writeAsOwner: async (sessionId, texts) => void (await write(system.edge, ofSession(sessionId), texts)),
    [Symbol.asyncDispose]: () => system[Symbol.asyncDispose](),
  };
}

async function openFake(): Promise<Implementation> {
  const context = createContext('postgres://unused');
  const fake = createFakeFiles(context);
  const revoked = new Set<string>();
  fake.maxBytes = MAX_BYTES;
  fake.holds = ({ turnId }) => !revoked.has(turnId);
  const connection = await connect(FilesServiceDefinition, fake.endpoint, 'in process', context);
  return {
    runner: connection.as('runner'),
    lease: () => ({ sessionId: context.ids('ses'), turnId: context.ids('trn'), fence: 1 }),
    revoke: ({ turnId }) => void revoked.add(turnId),
    writeAsOwner: async (sessionId, texts) => fake.upload(sessionId, texts),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

describe.each([
  ['the files service', openService],
  ['the fake of the runner tests', openFake],
])('the files contract for runners, over %s', (_, open) => {
  let files: Implementation;
  beforeAll(async () => {
    files = await open();
  });
  afterAll(() => files[Symbol.asyncDispose]());

  const attach = async (lease: Lease) =>
    (await files.runner.attachWorkspace({ place: ofSession(lease.sessionId), lease })).workspace;
  const writeFiles = (
    lease: Lease,
    texts: Record<string, string>,
    options: { base?: number; key?: string } = {},
  ) => write(files.runner, ofSession(lease.sessionId), texts, { lease, ...options });
  const apply = (lease: Lease, changes: Parameters<typeof change>[2], base?: number) =>
    change(files.runner, ofSession(lease.sessionId), changes, {
      lease,
      ...(base === undefined ? {} : { base }),
    });
  const page = (lease: Lease, path: string, recursive: boolean, limit: number, cursor = '') =>
    files.runner.listEntries({
      place: ofSession(lease.sessionId),
      lease,
      page: { limit, cursor },
      path,
      recursive,
    });
  const entry = (lease: Lease, path: string) =>
    files.runner.getEntry({ place: ofSession(lease.sessionId), lease, path });
  const text = (lease: Lease, path: string, version?: number) =>
    readText(files.runner, ofSession(lease.sessionId), path, {
      lease,
      ...(version === undefined ? {} : { version }),
    });

  it('attaches a session without files at version 0', async () => {
    const lease = files.lease();
    expect(await attach(lease)).toMatchObject({
      workspaceId: workspaceOf(lease.sessionId),
      version: 0,
      files: 0,
      bytes: 0,
    });
  });

  it('returns size and digest of uploaded contents in the order of the upload', async () => {
    const lease = files.lease();
    const contents = await upload(files.runner, ofSession(lease.sessionId), ['one', '', 'three'], {}, lease);
    expect(contents.map(({ size, sha256: digest }) => [size, digest])).toEqual([
      [3, sha256('one')],
      [0, sha256('')],
      [5, sha256('three')],
    ]);
  });

  it('refuses a content that differs from its declared size', async () => {
    const lease = files.lease();
    const place = ofSession(lease.sessionId);
    const messages = async function* () {
      yield { kind: { $case: 'place' as const, value: { place, lease } } };
      yield { kind: { $case: 'begin' as const, value: { size: 4 } } };
      yield { kind: { $case: 'bytes' as const, value: Buffer.from('one') } };
    };
    await expect(files.runner.writeContents(messages())).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('makes one version of a change, with parent directories, and counts its files', async () => {
    const lease = files.lease();
    const { workspace, conflicts, replayed } = await writeFiles(lease, { 'a/b/c': 'one', d: 'two' });
    expect({ conflicts, replayed }).toEqual({ conflicts: [], replayed: false });
    expect(workspace).toMatchObject({ version: 1, files: 2, bytes: 6, maxBytes: MAX_BYTES });
    expect((await entry(lease, 'a/b')).entry).toMatchObject({ kind: 'directory', size: 0, sha256: '' });
    expect(await attach(lease)).toMatchObject({ version: 1, files: 2 });
  });

  it('returns an entry with its version, mode and time', async () => {
    const lease = files.lease();
    const [content] = await upload(files.runner, ofSession(lease.sessionId), ['one'], {}, lease);
    const modifiedAt = new Date('2025-02-03T04:05:06Z');
    await apply(lease, [
      put('run', content!.contentId, { executable: true, modifiedAt }),
      link('to', '../x'),
    ]);
    expect(await entry(lease, 'run')).toEqual({
      entry: {
        path: 'run',
        kind: 'file',
        size: 3,
        sha256: sha256('one'),
        modifiedAt,
        executable: true,
        target: '',
      },
      version: 1,
    });
    expect((await entry(lease, 'to')).entry).toMatchObject({ kind: 'symlink', target: '../x', size: 0 });
    await expect(entry(lease, 'absent')).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  });

  it('lists entries sorted by path in pages, directly in a directory or below it', async () => {
    const lease = files.lease();
    await writeFiles(lease, { 'b/2': '', 'b/1/x': '', a: '', 'b-': '' });
    const paths = async (path: string, recursive: boolean) =>
      (await page(lease, path, recursive, 100)).entries.map((found) => found.path);
    expect(await paths('', true)).toEqual(['a', 'b', 'b-', 'b/1', 'b/1/x', 'b/2']);
    expect(await paths('', false)).toEqual(['a', 'b', 'b-']);
    expect(await paths('b', false)).toEqual(['b/1', 'b/2']);
    expect(await paths('b', true)).toEqual(['b/1', 'b/1/x', 'b/2']);
    const first = await page(lease, '', true, 4);
    const second = await page(lease, '', true, 4, first.page?.nextCursor);
    expect([...first.entries, ...second.entries].map((found) => found.path)).toEqual(await paths('', true));
    expect(second.page?.nextCursor).toBe('');
    for (const path of ['a', 'absent'])
      await expect(page(lease, path, false, 10)).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
    for (const limit of [0, 1_001])
      await expect(page(lease, '', false, limit)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('reads the current and an older version of a file', async () => {
    const lease = files.lease();
    await writeFiles(lease, { a: 'one' });
    await writeFiles(lease, { a: 'two' });
    expect([await text(lease, 'a'), await text(lease, 'a', 1)]).toEqual(['two', 'one']);
    await expect(text(lease, 'absent')).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
    await expect(text(lease, 'a', 9)).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  });

  it('checks out the whole tree first and only differences afterwards', async () => {
    const lease = files.lease();
    await writeFiles(lease, { 'a/1': 'one', 'a/2': 'two', b: 'three' });
    await apply(lease, [link('l', 'b')]);
    const copy = await new WorkspaceCopy().checkout(files.runner, lease);
    expect(copy).toMatchObject({ whole: true, version: 2, workspaceId: workspaceOf(lease.sessionId) });
    expect(copy.tree).toEqual({ a: '/', 'a/1': 'one', 'a/2': 'two', b: 'three', l: '→ b' });
    await writeFiles(lease, { 'c/d': 'four', b: 'changed' });
    await apply(lease, [remove('a')]);
    await copy.checkout(files.runner, lease);
    expect(copy).toMatchObject({ whole: false, version: 4, received: ['b', 'c', 'c/d'] });
    expect(copy.tree).toEqual({ b: 'changed', c: '/', 'c/d': 'four', l: '→ b' });
  });

  it('keeps an entry that another caller has changed since the base version', async () => {
    const lease = files.lease();
    await writeFiles(lease, { 'report.md': 'base', gone: 'base', same: 'base' });
    await files.writeAsOwner(lease.sessionId, { 'report.md': 'theirs', gone: 'theirs', same: 'equal' });
    const { conflicts } = await writeFiles(lease, { 'report.md': 'mine', same: 'equal' }, { base: 1 });
    expect(conflicts).toEqual([{ path: 'report.md', keptAs: 'report.conflict-v1.md' }]);
    expect((await apply(lease, [remove('gone')], 1)).conflicts).toEqual([{ path: 'gone', keptAs: '' }]);
    const copy = await new WorkspaceCopy().checkout(files.runner, lease);
    expect(copy.tree).toEqual({
      'report.md': 'theirs',
      'report.conflict-v1.md': 'mine',
      gone: 'theirs',
      same: 'equal',
    });
  });

  it('returns the stored answer for a repeated idempotency key', async () => {
    const lease = files.lease();
    const [content] = await upload(files.runner, ofSession(lease.sessionId), ['one'], {}, lease);
    const repeat = () =>
      change(files.runner, ofSession(lease.sessionId), [put('a', content!.contentId)], {
        lease,
        key: 'key-1',
      });
    const first = await repeat();
    expect(await repeat()).toEqual({ ...first, replayed: true });
    expect(await attach(lease)).toMatchObject({ version: 1 });
  });

  it('makes no version for a change without effect', async () => {
    const lease = files.lease();
    await writeFiles(lease, { 'a/b': 'one' });
    const { workspace } = await apply(lease, [mkdir('a'), remove('absent', true)]);
    expect(workspace).toMatchObject({ version: 1 });
  });

  it('refuses to remove an absent path unless the change allows it', async () => {
    const lease = files.lease();
    await writeFiles(lease, { a: 'one' });
    await expect(apply(lease, [remove('absent')])).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  });

  it('refuses an unknown content with FILE_NOT_FOUND', async () => {
    const lease = files.lease();
    const unknown = apply(lease, [put('a', 'cnt_00000000000000000000000000')]);
    await expect(unknown).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
    expect(await attach(lease)).toMatchObject({ version: 0 });
  });

  it('refuses a change beyond the size limit of the workspace with QUOTA_EXCEEDED', async () => {
    const lease = files.lease();
    await writeFiles(lease, { a: 'x'.repeat(MAX_BYTES * 0.75) });
    const more = writeFiles(lease, { b: 'y'.repeat(MAX_BYTES / 2) });
    await expect(more).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
    expect(await attach(lease)).toMatchObject({ version: 1, files: 1 });
  });

  it('refuses calls under a lost lease with LEASE_LOST', async () => {
    const lease = files.lease();
    await writeFiles(lease, { a: 'one' });
    files.revoke(lease);
    const lost = { code: 'LEASE_LOST' };
    await expect(attach(lease)).rejects.toMatchObject(lost);
    await expect(entry(lease, 'a')).rejects.toMatchObject(lost);
    await expect(text(lease, 'a')).rejects.toMatchObject(lost);
    await expect(apply(lease, [remove('a')])).rejects.toMatchObject(lost);
    await expect(new WorkspaceCopy().checkout(files.runner, lease)).rejects.toMatchObject(lost);
  });
});
