import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '../../../lib/log.ts';
import type { NewPart } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { FilesConfig } from '../../../services/files/config.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { countOn, runOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import {
  createUpload,
  type FilesSystem,
  OWNER,
  ofSession,
  openFilesSystem,
  readPart,
  STRANGER,
  sha256,
  treeOf,
  workspace,
  write,
} from './system.ts';

const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;
const caller = OWNER;

describe('the bytes of uploads and parts', () => {
  let system: FilesSystem;
  let clock: FakeClock;
  /** The number of timers while no background task runs. */
  let idleTimers = 0;
  afterEach(() => system[Symbol.asyncDispose]());

  async function open(config: Partial<FilesConfig> = {}): Promise<void> {
    clock = createFakeClock();
    const silent = { clock, log: createLog({ level: 'silent' }), observe: () => {} };
    system = await openFilesSystem('in process', silent, config);
    idleTimers = clock.pending;
  }

  const count = (table: string) => countOn(system.database.url, `select count(*) from files.${table}`);
  const objects = async () => (await Array.fromAsync(system.blobs.list())).length;
  const data = (text: string): NewPart => part({ $case: 'data', value: Buffer.from(text) });
  const part = (source: NonNullable<NewPart['attachment']>['source']): NewPart => ({
    ...{ type: 'file', mediaType: 'text/plain', name: '' },
    attachment: { source },
  });
  const storeUnused = (sessionId: string, ...parts: NewPart[]) =>
    system.sessions.storeParts({ sessionId, ownerId: OWNER.userId, assistantId: '', parts });
  /** Stores the parts of a message that the journal of the session gets. */
  const store = async (sessionId: string, ...parts: NewPart[]) => {
    const stored = await storeUnused(sessionId, ...parts);
    for (const { sha256: digest } of stored.parts) system.fakes.refer(sessionId, digest);
  };
  const fork = async (fromSessionId: string, partsOnly?: boolean) => {
    const toSessionId = system.fakes.session();
    await system.sessions.forkWorkspace(
      { fromSessionId, version: undefined, toSessionId, partsOnly },
      { caller },
    );
    for (const digest of system.fakes.referencedParts(fromSessionId)) system.fakes.refer(toSessionId, digest);
    return toSessionId;
  };
  const remove = async (sessionId: string) => {
    await system.sessions.deleteWorkspace({ place: ofSession(sessionId) });
    system.fakes.delete(sessionId);
  };
  const text = async (sessionId: string, digest: string) =>
    String((await readPart(system.edge, sessionId, digest)).bytes);

  /** Advances the clock and waits for the tasks that become due, so that the clock never advances during a sweep. */
  async function pass(ms: number): Promise<void> {
    for (let elapsed = 0; elapsed < ms; elapsed += HOUR_MS) {
      clock.advance(HOUR_MS);
      await until('no background task runs', () => clock.pending >= idleTimers);
    }
  }

  it('are erased when an upload has not been used for a day', async () => {
    await open();
    await createUpload(system.edge, 'unused');
    const { uploadId } = await createUpload(system.edge, 'used');
    await pass(20 * HOUR_MS);
    const sessionId = system.fakes.session();
    await store(sessionId, part({ $case: 'uploadId', value: uploadId }));
    await pass(20 * HOUR_MS);
    expect(await count('uploads')).toBe(1);
    await store(sessionId, part({ $case: 'uploadId', value: uploadId }));
    await pass(25 * HOUR_MS);
    expect(await count('uploads')).toBe(0);
    await expect(store(sessionId, part({ $case: 'uploadId', value: uploadId }))).rejects.toMatchObject({
      code: 'UPLOAD_NOT_FOUND',
    });
    await pass(3 * DAY_MS);
    expect(await objects()).toBe(1);
    expect(await text(sessionId, sha256('used'))).toBe('used');
  });

  it('cannot be used after the expiry, also before the sweeper has deleted the upload', async () => {
    await open();
    const { uploadId, expiresAt } = await createUpload(system.edge, 'late');
    expect(expiresAt?.getTime()).toBe(clock.now().getTime() + DAY_MS);
    clock.advance(DAY_MS);
    const late = { code: 'UPLOAD_NOT_FOUND', details: [{ pointer: '/0/upload_id' }] };
    const storing = store(system.fakes.session(), part({ $case: 'uploadId', value: uploadId }));
    await expect(storing).rejects.toMatchObject(late);
  });

  it('stay as long as the session or a fork of it exists', async () => {
    await open();
    const first = system.fakes.session();
    await write(system.edge, ofSession(first), { a: 'from a file' });
    await store(first, data('inline'), part({ $case: 'path', value: 'a' }));
    const second = await fork(first);
    const third = await fork(second, true);
    await remove(first);
    await expect(text(first, sha256('inline'))).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await remove(second);
    await pass(4 * DAY_MS);
    expect(await objects()).toBe(2);
    for (const one of ['inline', 'from a file']) expect(await text(third, sha256(one))).toBe(one);
    await remove(third);
    await pass(4 * DAY_MS);
    expect([await count('parts'), await count('contents'), await objects()]).toEqual([0, 0, 0]);
  });

  it('are erased when no message of the session refers to them a day later', async () => {
    await open();
    const sessionId = system.fakes.session();
    await store(sessionId, data('of a message'));
    await storeUnused(sessionId, data('of a refused message'), data('sent again'));
    await pass(20 * HOUR_MS);
    expect(await text(sessionId, sha256('of a refused message'))).toBe('of a refused message');
    const forked = await fork(sessionId, true);
    await store(sessionId, data('sent again'));
    await storeUnused(sessionId, data('refused later'));
    await pass(6 * HOUR_MS);
    expect(await count(`parts where session_id = '${sessionId}'`)).toBe(3);
    await pass(4 * DAY_MS);
    expect(await count(`parts where session_id = '${sessionId}'`)).toBe(2);
    for (const one of ['of a message', 'sent again']) expect(await text(sessionId, sha256(one))).toBe(one);
    expect(await text(forked, sha256('of a message'))).toBe('of a message');
    expect([await count('parts'), await objects(), await count('unconfirmed_sessions')]).toEqual([3, 2, 0]);
  });

  it('stay when the journal of their session cannot be read, until it can', async () => {
    await open();
    const [sessionId, other] = [system.fakes.session(), system.fakes.session()];
    await storeUnused(sessionId, data('unused'));
    await storeUnused(other, data('unused, too'));
    system.fakes.unreadable = sessionId;
    await pass(2 * DAY_MS);
    expect(await text(sessionId, sha256('unused'))).toBe('unused');
    expect(await count(`parts where session_id = '${other}'`)).toBe(0);
    system.fakes.unreadable = undefined;
    await pass(2 * HOUR_MS);
    expect(await count('parts')).toBe(0);
  });

  it('of a fork of an assistant session are shared without a workspace', async () => {
    await open();
    const from = system.fakes.session();
    await store(from, data('shared'));
    const to = await fork(from, true);
    expect(await text(to, sha256('shared'))).toBe('shared');
    expect(await count('workspaces')).toBe(0);
  });

  it('are erased when the session was not created within a day', async () => {
    await open();
    const absent = system.context.ids('ses');
    const late = system.context.ids('ses');
    const { uploadId } = await createUpload(system.edge, 'in the workspace');
    for (const sessionId of [absent, late]) {
      await store(sessionId, data('of a message'));
      const files = [{ path: 'a', uploadId }];
      await system.sessions.placeUploads({ sessionId, ownerId: OWNER.userId, assistantId: '', files });
    }
    await pass(20 * HOUR_MS);
    system.fakes.create(late);
    await pass(5 * DAY_MS);
    expect(await count(`parts where session_id = '${absent}'`)).toBe(0);
    expect(await text(late, sha256('of a message'))).toBe('of a message');
    expect(await treeOf(system.edge, ofSession(late))).toEqual({ a: 'in the workspace' });
    await remove(late);
    await pass(5 * DAY_MS);
    const left = await Promise.all(['parts', 'workspaces', 'contents', 'unconfirmed_sessions'].map(count));
    expect([...left, await objects()]).toEqual([0, 0, 0, 0, 0]);
  });

  it('of a fork that was not created are released', async () => {
    await open();
    const from = system.fakes.session();
    await store(from, data('shared'));
    await write(system.edge, ofSession(from), { a: 'a' });
    const to = system.context.ids('ses');
    await system.sessions.forkWorkspace(
      { fromSessionId: from, version: undefined, toSessionId: to, partsOnly: undefined },
      { caller },
    );
    await pass(5 * DAY_MS);
    expect(await count('parts')).toBe(1);
    expect(await count('workspaces')).toBe(1);
    expect(await workspace(system.edge, ofSession(from))).toMatchObject({ version: 1 });
  });

  it('are erased when a crash left them without a row', async () => {
    await open();
    const sessionId = system.fakes.session();
    // The database refuses the row of the part after the bytes are stored.
    await runOn(system.database.url, 'alter table files.parts rename to parts_away');
    await expect(store(sessionId, data('no row'))).rejects.toMatchObject({ code: expect.any(String) });
    await runOn(system.database.url, 'alter table files.parts_away rename to parts');
    expect(await objects()).toBe(1);
    await pass(4 * DAY_MS);
    expect([await count('contents'), await objects()]).toEqual([0, 0]);
  });

  it('count against the quota of their owner', async () => {
    await open({ quotaBytesPerUser: 1_000 });
    await createUpload(system.edge, 'u'.repeat(600));
    const sessionId = system.fakes.session();
    await store(sessionId, data('p'.repeat(400)));
    const over = { code: 'QUOTA_EXCEEDED' };
    await expect(createUpload(system.edge, 'x')).rejects.toMatchObject(over);
    await expect(store(sessionId, data('x'))).rejects.toMatchObject(over);
    await store(sessionId, data('u'.repeat(600)));
    await createUpload(system.edge, 'x', {}, { caller: STRANGER });
  });
});
