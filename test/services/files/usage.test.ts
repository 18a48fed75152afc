import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WriteContentsRequest } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { FilesConfig } from '../../../services/files/config.ts';
import { createFakeClock } from '../../support/clock.ts';
import { rowsOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import {
  type FilesSystem,
  MIB,
  OWNER,
  ofSession,
  openFilesSystem,
  openReplica,
  STRANGER,
  upload,
  write,
} from './system.ts';

const over = { code: 'QUOTA_EXCEEDED', retryAfterSeconds: 60 };
const GRACE_MS = 86_400_000;

describe('the stored bytes of one user', () => {
  const clock = createFakeClock(new Date());
  let system: FilesSystem;
  const opened: FilesSystem[] = [];
  afterAll(async () => {
    for (const one of opened) await one[Symbol.asyncDispose]();
  });

  async function open(config: Partial<FilesConfig>): Promise<void> {
    system = await openFilesSystem('in process', { clock }, { workspaceMaxBytes: 100 * MIB, ...config });
    opened.push(system);
  }

  const place = (owner = OWNER) => ofSession(system.fakes.session(owner));
  const text = (letter: string, bytes: number) => letter.repeat(bytes);

  /** The counted and the actual bytes, read in one statement because the sweeper may be running. */
  async function counted({ userId }: { userId: string } = OWNER) {
    const [row] = await rowsOn<{ counted: string; kept: string }>(
      system.database.url,
      `select
         (select coalesce(sum(bytes), 0) from files.owners where owner_id = '${userId}')::text as counted,
         (select coalesce(sum(size), 0) from files.contents where owner_id = '${userId}')::text as kept`,
    );
    expect(row?.counted).toBe(row?.kept);
    return Number(row?.counted);
  }

  async function objects(): Promise<number> {
    let count = 0;
    for await (const _ of system.blobs.list()) count++;
    return count;
  }

  /** Advances the clock until the sweeper has run twice with a grace period in between. */
  async function erased(bytes: number): Promise<void> {
    await until('the content is erased', async () => {
      clock.advance(GRACE_MS);
      return (await counted()) === bytes;
    });
  }

  describe('with a quota', () => {
    beforeAll(() => open({ quotaBytesPerUser: 1_000 }));

    it('are limited over all workspaces, and each content counts once', async () => {
      const [one, other] = [place(), place()];
      await write(system.edge, one, { a: text('a', 600), 'copy of a': text('a', 600) });
      await write(system.edge, other, { a: text('a', 600), b: text('b', 400) });
      expect(await counted()).toBe(1_000);
      await expect(write(system.edge, one, { c: 'c' })).rejects.toMatchObject(over);
      // Content that is already stored needs no space.
      await write(system.edge, one, { b: text('b', 400) });
      expect(await counted()).toBe(1_000);
    });

    it('are counted separately for each user', async () => {
      const theirs = place(STRANGER);
      await upload(system.edge, theirs, [text('a', 1_000)], { caller: STRANGER });
      expect(await counted(STRANGER)).toBe(1_000);
    });

    it('include unnamed and former contents until they are erased, and nothing of a refused upload', async () => {
      const workspace = place();
      const before = await objects();
      await expect(upload(system.edge, workspace, [text('d', 300), text('e', 800)])).rejects.toMatchObject(
        over,
      );
      expect(await objects()).toBe(before);
      await write(system.edge, workspace, {});
    });
  });

  describe('with a quota, and large files', () => {
    beforeAll(() => open({ quotaBytesPerUser: 5 * MIB }));

    async function* coming(declared: number | undefined, mib: number): AsyncGenerator<WriteContentsRequest> {
      yield { kind: { $case: 'place', value: { place: place(), lease: undefined } } };
      yield { kind: { $case: 'begin', value: { size: declared } } };
      for (let piece = 0; piece < mib; piece++) {
        sent++;
        yield { kind: { $case: 'bytes', value: Buffer.alloc(MIB, piece + 1) } };
      }
    }
    let sent = 0;
    const send = (messages: AsyncIterable<WriteContentsRequest>) =>
      system.edge.writeContents(messages, { caller: OWNER });

    it('refuse a large file before it is stored, with and without a declared size', async () => {
      sent = 0;
      await expect(send(coming(6 * MIB, 6))).rejects.toMatchObject(over);
      expect(sent).toBeLessThanOrEqual(3);
      await expect(send(coming(undefined, 50))).rejects.toMatchObject(over);
      expect(sent).toBeLessThan(20);
      expect([await objects(), await counted()]).toEqual([0, 0]);
    });

    it('are exact for concurrent uploads at several replicas', async () => {
      const { context, fakes, blobs } = system;
      const config = { quotaBytesPerUser: 5 * MIB, workspaceMaxBytes: 100 * MIB };
      await using replica = await openReplica('in process', context, fakes, blobs, config);
      const results = await Promise.allSettled(
        Array.from({ length: 12 }, (_, index) =>
          upload(index % 2 ? system.edge : replica.edge, place(), [Buffer.alloc(MIB, index + 100)]),
        ),
      );
      const accepted = results.filter(({ status }) => status === 'fulfilled');
      expect(accepted).toHaveLength(5);
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toMatchObject(over);
      expect([await objects(), await counted()]).toEqual([5, 5 * MIB]);
    });

    it('decrease when unreferenced contents are erased', async () => {
      await erased(0);
      expect(await objects()).toBe(0);
      await upload(system.edge, place(), [Buffer.alloc(5 * MIB, 'n')]);
    });
  });

  describe('without a quota', () => {
    beforeAll(() => open({}));

    it('are counted, so that a quota can be added later', async () => {
      await write(system.edge, place(), { a: text('a', 600), b: Buffer.alloc(2 * MIB, 'b') });
      expect(await counted()).toBe(2 * MIB + 600);
    });

    it('count equal bytes of concurrent uploads once', async () => {
      await Promise.all(
        Array.from({ length: 10 }, () => upload(system.edge, place(), ['one', 'two', 'three'])),
      );
      expect(await counted()).toBe(2 * MIB + 611);
    });
  });
});
