import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { createIds } from '../../../lib/ids.ts';
import { createLog } from '../../../lib/log.ts';
import type { RefusalRow } from '../../../services/deployments/domain/invocations.ts';
import { createRefusalLog } from '../../../services/deployments/webhooks/refusals.ts';
import { createFakeClock } from '../../support/clock.ts';

function open(write: (rows: RefusalRow[]) => Promise<void> = async () => {}) {
  const clock = createFakeClock();
  const ids = createIds(clock);
  const writes: RefusalRow[][] = [];
  const lines: string[] = [];
  const log = createRefusalLog({
    clock,
    ids,
    log: createLog({
      level: 'warn',
      destination: { write: (line) => void lines.push(line) },
    }),
    async write(rows) {
      writes.push(structuredClone(rows));
      await write(rows);
    },
  });
  const note = (deploymentId = 'dep_a', reason = 'bad_signature') =>
    log.add({ deploymentId, reason, bodyBytes: 1, sourceAddress: '::1', requestId: '' });
  /** Advances the clock and waits for the work that it started. */
  async function advance(ms: number): Promise<void> {
    clock.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { log, note, advance, writes, lines };
}

const countOf = (rows: RefusalRow[]) => rows.reduce((total, { count }) => total + count, 0);

describe('createRefusalLog', () => {
  it('writes once a second, and only when there are rows', async () => {
    const { note, advance, writes } = open();
    await advance(10_000);
    expect(writes).toEqual([]);
    for (let n = 0; n < 10; n++) note();
    await advance(999);
    expect(writes).toEqual([]);
    await advance(1);
    note();
    await advance(999);
    expect(writes.map((rows) => rows.length)).toEqual([10]);
    await advance(1);
    expect(writes.map((rows) => rows.length)).toEqual([10, 1]);
    await advance(60_000);
    expect(writes).toHaveLength(2);
  });

  it('writes a row for each of 20 requests, then for one per second, and counts the others by reason and minute', async () => {
    const { note, advance, writes } = open();
    for (let n = 0; n < 100; n++) note('dep_a', n % 2 ? 'bad_signature' : 'missing_signature');
    for (let n = 0; n < 5; n++) note('dep_b');
    await advance(1_000);
    expect(writes[0]?.filter(({ count }) => count === 1)).toHaveLength(25);
    expect(writes[0]?.filter(({ count }) => count > 1).map(({ slot, count }) => [slot, count])).toEqual([
      ['2026-01-01T00:00 missing_signature', 40],
      ['2026-01-01T00:00 bad_signature', 40],
    ]);
    for (let n = 0; n < 3; n++) note();
    await advance(1_000);
    expect(writes[1]?.map(({ count }) => count)).toEqual([1, 2]);
    await advance(60_000);
    for (let n = 0; n < 30; n++) note();
    await advance(1_000);
    expect(writes[2]?.filter(({ count }) => count === 1)).toHaveLength(20);
    expect(writes[2]?.at(-1)).toMatchObject({ slot: '2026-01-01T00:01 bad_signature', count: 10 });
  });

  it('keeps rows that an unavailable database did not store, each request once', async () => {
    let away = true;
    const { note, advance, writes } = open(async () => {
      if (away) throw refuse('DEPENDENCY_UNAVAILABLE', 'the database cannot be reached');
    });
    for (let n = 0; n < 30; n++) note();
    await advance(1_000);
    for (let n = 0; n < 30; n++) note();
    await advance(1_000);
    away = false;
    await advance(1_000);
    expect(writes).toHaveLength(3);
    expect(countOf(writes[2]!)).toBe(60);
    expect(new Set(writes[2]?.map(({ slot }) => slot)).size).toBe(writes[2]?.length);
    await advance(10_000);
    expect(writes).toHaveLength(3);
  });

  it('drops rows that the database rejects', async () => {
    const { note, advance, writes, lines } = open(async () => {
      throw refuse('INVALID_TEXT', 'a text holds a character that cannot be stored');
    });
    note();
    await advance(1_000);
    await advance(10_000);
    expect(writes).toHaveLength(1);
    expect(lines.join()).toContain('could not be logged');
  });

  it('bounds its memory for many deployments and a long outage of the database', async () => {
    let away = true;
    const { note, advance, writes, lines } = open(async () => {
      if (away) throw refuse('DEPENDENCY_UNAVAILABLE', 'the database cannot be reached');
    });
    for (let second = 0; second < 5; second++) {
      for (let n = 0; n < 2_000 * 21; n++) note(`dep_${n % 2_000}`);
      await advance(1_000);
    }
    away = false;
    await advance(1_000);
    const last = writes.at(-1)!;
    expect(last.length).toBeLessThanOrEqual(5_000);
    expect(new Set(last.map(({ deploymentId }) => deploymentId)).size).toBeLessThanOrEqual(1_000);
    expect(lines.join()).toContain('because there were too many');
    await advance(30_000);
    note('dep_1999');
    await advance(1_000);
    expect(writes.at(-1)).toMatchObject([{ deploymentId: 'dep_1999', count: 1 }]);
  });

  it('writes the remaining rows when it stops, also during a write', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { log, note, advance, writes } = open(() => promise);
    note();
    await advance(1_000);
    note();
    const stopped = log.stop();
    resolve();
    await stopped;
    expect(writes.map((rows) => rows.length)).toEqual([1, 1]);
  });
});
