import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WriteContentsRequest } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { FilesConfig } from '../../../services/files/config.ts';
import { createFakeClock } from '../../support/clock.ts';
import { rowsOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import {
  type House,
  MIB,
  OWNER,
  ofSession,
  openHouse,
  openReplica,
  STRANGER,
  upload,
  write,
} from './house.ts';

const over = { code: 'QUOTA_EXCEEDED', retryAfterSeconds: 60 };
const GRACE_MS = 86_400_000;

describe('what is kept for one user', () => {
  const clock = createFakeClock(new Date());
  let house: House;
  const opened: House[] = [];
  afterAll(async () => {
    for (const one of opened) await one[Symbol.asyncDispose]();
  });

  async function open(config: Partial<FilesConfig>): Promise<void> {
    house = await openHouse('in process', { clock }, { workspaceMaxBytes: 100 * MIB, ...config });
    opened.push(house);
  }

  const place = (owner = OWNER) => ofSession(house.neighbours.session(owner));
  const text = (letter: string, bytes: number) => letter.repeat(bytes);

  /** What the service has counted, and what there is: in one statement, as the sweeper may be at work. */
  async function counted({ userId }: { userId: string } = OWNER) {
    const [row] = await rowsOn<{ counted: string; kept: string }>(
      house.database.url,
      `select
         (select coalesce(sum(bytes), 0) from files.owners where owner_id = '${userId}')::text as counted,
         (select coalesce(sum(size), 0) from files.contents where owner_id = '${userId}')::text as kept`,
    );
    expect(row?.counted).toBe(row?.kept);
    return Number(row?.counted);
  }

  async function objects(): Promise<number> {
    let count = 0;
    for await (const _ of house.blobs.list()) count++;
    return count;
  }

  /** Until the sweeper has been there twice, with a grace between. */
  async function erased(bytes: number): Promise<void> {
    await until('it is erased', async () => {
      clock.advance(GRACE_MS);
      return (await counted()) === bytes;
    });
  }

  describe('with a quota', () => {
    beforeAll(() => open({ quotaBytesPerUser: 1_000 }));

    it('is not more, over all workspaces together, and each content counts once', async () => {
      const [one, other] = [place(), place()];
      await write(house.edge, one, { a: text('a', 600), 'copy of a': text('a', 600) });
      await write(house.edge, other, { a: text('a', 600), b: text('b', 400) });
      expect(await counted()).toBe(1_000);
      await expect(write(house.edge, one, { c: 'c' })).rejects.toMatchObject(over);
      // What is there already needs no room.
      await write(house.edge, one, { b: text('b', 400) });
      expect(await counted()).toBe(1_000);
    });

    it('is nobody else’s', async () => {
      const theirs = place(STRANGER);
      await upload(house.edge, theirs, [text('a', 1_000)], { caller: STRANGER });
      expect(await counted(STRANGER)).toBe(1_000);
    });

    it('counts what is not named, and what was, until it is erased; nothing stays of what was refused', async () => {
      const one = place();
      const before = await objects();
      await expect(upload(house.edge, one, [text('d', 300), text('e', 800)])).rejects.toMatchObject(over);
      expect(await objects()).toBe(before);
      await write(house.edge, one, {});
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
      house.edge.writeContents(messages, { caller: OWNER });

    it('is refused before too much of it is taken, announced or not', async () => {
      sent = 0;
      await expect(send(coming(6 * MIB, 6))).rejects.toMatchObject(over);
      expect(sent).toBeLessThanOrEqual(3);
      await expect(send(coming(undefined, 50))).rejects.toMatchObject(over);
      expect(sent).toBeLessThan(20);
      expect([await objects(), await counted()]).toEqual([0, 0]);
    });

    it('is exact when many come at once, at several replicas', async () => {
      const { context, neighbours, blobs } = house;
      const config = { quotaBytesPerUser: 5 * MIB, workspaceMaxBytes: 100 * MIB };
      await using replica = await openReplica('in process', context, neighbours, blobs, config);
      const results = await Promise.allSettled(
        Array.from({ length: 12 }, (_, index) =>
          upload(index % 2 ? house.edge : replica.edge, place(), [Buffer.alloc(MIB, index + 100)]),
        ),
      );
      const kept = results.filter(({ status }) => status === 'fulfilled');
      expect(kept).toHaveLength(5);
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toMatchObject(over);
      expect([await objects(), await counted()]).toEqual([5, 5 * MIB]);
    });

    it('has room again when what nothing names is erased', async () => {
      await erased(0);
      expect(await objects()).toBe(0);
      await upload(house.edge, place(), [Buffer.alloc(5 * MIB, 'n')]);
    });
  });

  describe('without a quota', () => {
    beforeAll(() => open({}));

    it('is counted all the same, so that there may be one tomorrow', async () => {
      await write(house.edge, place(), { a: text('a', 600), b: Buffer.alloc(2 * MIB, 'b') });
      expect(await counted()).toBe(2 * MIB + 600);
    });

    it('is counted when the same bytes come many times at once', async () => {
      await Promise.all(
        Array.from({ length: 10 }, () => upload(house.edge, place(), ['one', 'two', 'three'])),
      );
      expect(await counted()).toBe(2 * MIB + 611);
    });
  });
});
