import { describe, expect, it } from 'vitest';
import { createBatcher } from '../../../lib/db/batcher.ts';
import { createSchemaObserver } from '../../../lib/db/observer.ts';
import { createMetrics } from '../../../lib/metrics.ts';
import { silentTracer } from '../../../lib/telemetry/tracer.ts';
import { createFakeClock } from '../../support/clock.ts';

interface TestItem {
  owner: string;
  name: string;
  bytes?: number;
}

const MEBIBYTE = 1024 * 1024;
const FULL = { code: 'DEPENDENCY_UNAVAILABLE' };

/** A group whose batches are held until `release`. */
function openGroup({ maxItems = 2, secondsPerBatch = 0 } = {}) {
  const metrics = createMetrics();
  const clock = createFakeClock();
  const batches: string[][] = [];
  const gate = Promise.withResolvers<void>();
  const group = createBatcher<TestItem, string>({
    name: 'test.group',
    observer: createSchemaObserver({ schema: 'test', tracer: silentTracer, metrics }),
    async run(items) {
      batches.push(items.map(({ name }) => name));
      await gate.promise;
      if (secondsPerBatch > 0) await new Promise(setImmediate);
      clock.advance(secondsPerBatch * 1_000);
      return items.map(({ name }) => name);
    },
    sizeOf: ({ bytes }) => bytes ?? 1,
    ownerOf: ({ owner }) => owner,
    maxItems,
    maxBytes: 8 * MEBIBYTE,
    clock,
  });
  const submit = (name: string, owner = 'one', bytes = 1) => group.submit({ owner, name, bytes });
  return {
    clock,
    metrics,
    batches,
    group,
    submit,
    /** Submits an item and waits until its batch runs. */
    async occupy() {
      void submit('first', 'other');
      await new Promise(setImmediate);
    },
    release: () => gate.resolve(),
  };
}

type Outcome = { value: string } | { error: unknown };

const outcomeOf = (result: Promise<string>): Promise<Outcome> =>
  result.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );

describe('the bounds of a group commit', () => {
  it('refuses the item after 10,000 waiting ones with a random Retry-After, and loses none of them', async () => {
    const { submit, group, release, metrics } = openGroup({ maxItems: 5_000 });
    const accepted = Array.from({ length: 10_000 }, (_, index) => submit(`${index}`));
    const refusals = await Promise.all(Array.from({ length: 50 }, () => outcomeOf(submit('late'))));
    for (const refusal of refusals) expect(refusal).toMatchObject({ error: FULL });
    const seconds = refusals.map(
      (one) => 'error' in one && (one.error as { retryAfterSeconds: number }).retryAfterSeconds,
    );
    expect(new Set(seconds).size).toBeGreaterThan(1);
    expect(seconds.every((value) => value && value >= 1 && value <= 4)).toBe(true);
    expect(group.waiting).toBe(10_000);
    release();
    expect((await Promise.all(accepted)).length).toBe(10_000);
    expect(await submit('later')).toBe('later');
    expect(await metrics.text()).toContain('ahs_overload_refusals_total{queue="test.group"} 50');
  });

  it('refuses an item while an older one of its owner has waited for a second', async () => {
    const opened = openGroup();
    await opened.occupy();
    const waiting = opened.submit('waiting');
    opened.clock.advance(999);
    const second = opened.submit('second');
    opened.clock.advance(1);
    await expect(opened.submit('third')).rejects.toMatchObject(FULL);
    await expect(opened.submit('of another owner', 'two')).rejects.toMatchObject(FULL);
    opened.release();
    expect(await Promise.all([waiting, second])).toEqual(['waiting', 'second']);
    expect(await opened.submit('fourth')).toBe('fourth');
  });

  it('does not refuse an owner because the items of another one wait for seconds', async () => {
    const opened = openGroup({ secondsPerBatch: 0.1 });
    const many = Array.from({ length: 100 }, (_, index) => opened.submit(`${index}`, 'a'));
    opened.release();
    await many[30];
    await expect(opened.submit('one more', 'a')).rejects.toMatchObject(FULL);
    expect(await opened.submit('of another owner', 'b')).toBe('of another owner');
    await Promise.all(many);
  });

  it('refuses an item when the waiting ones have 256 MiB', async () => {
    const opened = openGroup();
    await opened.occupy();
    const waiting = opened.submit('long', 'one', 256 * MEBIBYTE);
    await expect(opened.submit('short', 'two')).rejects.toMatchObject(FULL);
    opened.release();
    expect(await waiting).toBe('long');
    expect(await opened.submit('short')).toBe('short');
  });

  it('never refuses an item that is submitted as one', async () => {
    const opened = openGroup();
    await opened.occupy();
    const waiting = opened.submit('waiting');
    opened.clock.advance(60_000);
    const always = opened.group.submitAlways({ owner: 'one', name: 'always' });
    opened.release();
    expect(await Promise.all([waiting, always])).toEqual(['waiting', 'always']);
  });

  it('drops an item whose caller leaves before its batch starts', async () => {
    const opened = openGroup();
    await opened.occupy();
    const leaving = new AbortController();
    const dropped = outcomeOf(
      opened.group.submit({ owner: 'one', name: 'dropped' }, { signal: leaving.signal }),
    );
    const kept = opened.submit('kept');
    leaving.abort();
    opened.release();
    expect(await kept).toBe('kept');
    expect(await dropped).toMatchObject({ error: { code: 'CANCELLED' } });
    expect(opened.batches.flat()).not.toContain('dropped');
  });

  it('takes the items of owners in turn, so that one item does not wait for a thousand of another owner', async () => {
    const opened = openGroup({ maxItems: 4 });
    await opened.occupy();
    const many = Array.from({ length: 1_000 }, (_, index) => opened.submit(`a${index}`, 'a'));
    const one = opened.submit('b', 'b');
    opened.release();
    await Promise.all([...many, one]);
    expect(opened.batches[1]).toEqual(['a0', 'b', 'a1', 'a2']);
  });
});
