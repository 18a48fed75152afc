import { beforeEach, describe, expect, it } from 'vitest';
import type { DiskSpace } from '../../../../services/runner/sandbox-providers/space/disk-reserve.ts';
import { SpaceMonitor } from '../../../../services/runner/sandbox-providers/space/space-monitor.ts';
import type { MonitoredCopy } from '../../../../services/runner/sandbox-providers/space/space-watch.ts';
import { createFakeClock, type FakeClock } from '../../../support/clock.ts';

const MIB = 1024 * 1024;
const DISK_BYTES = 1_000 * MIB;
const RESERVED_BYTES = 50 * MIB;

/** A copy on a disk that the test fills. */
class FakeCopy implements MonitoredCopy {
  readonly sandboxId = 'sbx_1';
  readonly limit: MonitoredCopy['limit'];
  readonly isCheap: boolean;
  fullLimit: string | undefined;
  knownSpace = { bytes: 0, entries: 0 };
  bytes = 0;
  measurements = 0;
  ended: string | undefined;

  constructor(limitMib: number | undefined) {
    this.limit = limitMib === undefined ? undefined : { bytes: limitMib * MIB, entries: 100_000 };
    this.isCheap = this.limit === undefined;
  }

  async measure() {
    this.measurements++;
    this.knownSpace = { bytes: this.bytes, entries: 0 };
    return this.knownSpace;
  }
}

describe('SpaceMonitor', () => {
  let clock: FakeClock;
  let usedBytes: number;
  let isUnreadable: boolean;
  const readDisk = (): DiskSpace => {
    if (isUnreadable) throw new Error('EIO: i/o error, statfs');
    return {
      usedBytes,
      usedInodes: 0,
      freeBytes: DISK_BYTES - RESERVED_BYTES - usedBytes,
      freeInodes: Number.POSITIVE_INFINITY,
      reservedBytes: RESERVED_BYTES,
      reservedInodes: 0,
    };
  };

  beforeEach(() => {
    clock = createFakeClock();
    usedBytes = 0;
    isUnreadable = false;
  });

  const openMonitor = (totalMib?: number) =>
    new SpaceMonitor({ readDisk, clock, totalBytes: totalMib === undefined ? undefined : totalMib * MIB });

  function start(monitor: SpaceMonitor, limitMib = 10_000) {
    const copy = new FakeCopy(limitMib);
    const watch = monitor.watch(copy, (limit) => {
      copy.ended = limit;
    });
    const write = (mib: number) => {
      copy.bytes += mib * MIB;
      usedBytes += mib * MIB;
    };
    return { copy, watch, write };
  }

  /** Lets checks run, and the measurements that they start. */
  async function pass(ms = 100) {
    clock.advance(ms);
    for (let step = 0; step < 20; step++) await Promise.resolve();
  }

  it('ends the command whose copy has grown most when the disk is nearly full', async () => {
    const monitor = openMonitor();
    const [small, large, idle] = [start(monitor), start(monitor), start(monitor)];
    small.write(100);
    large.write(860);
    await pass();
    expect(large.copy.ended).toMatch(/^the disk of the runner was nearly full/);
    expect([small.copy.ended, idle.copy.ended]).toEqual([undefined, undefined]);
  });

  it('ends no second command until the copy of the first had time to be emptied', async () => {
    const monitor = openMonitor();
    const [small, large] = [start(monitor), start(monitor)];
    small.write(100);
    large.write(860);
    await pass();
    await pass();
    expect(small.copy.ended).toBeUndefined();
    await large.watch.stop();
    await pass(500);
    expect(small.copy.ended).toBeUndefined();
    await pass(600);
    expect(small.copy.ended).toMatch(/nearly full/);
  });

  it('ends no command when another writer has filled the disk', async () => {
    const { copy } = start(openMonitor());
    usedBytes = DISK_BYTES;
    await pass();
    expect(copy.ended).toBeUndefined();
  });

  it('measures a copy only when the disk has grown by the space that the copy has left', async () => {
    const { copy, write } = start(openMonitor(), 100);
    write(90);
    await pass();
    expect([copy.measurements, copy.ended]).toEqual([0, undefined]);
    usedBytes += 20 * MIB;
    await pass();
    expect([copy.measurements, copy.ended]).toEqual([1, undefined]);
    write(20);
    await pass();
    expect(copy.ended).toBe('the copy of the workspace exceeded its limit of 100 MiB');
  });

  it('reports a limit that a command exceeded just before it ended', async () => {
    const { write, watch } = start(openMonitor(), 100);
    write(101);
    expect(await watch.stop()).toBe('the copy of the workspace exceeded its limit of 100 MiB');
  });

  it('ends the command whose copy has grown most at the common limit of all copies', async () => {
    const monitor = openMonitor(500);
    const [small, large] = [start(monitor), start(monitor)];
    small.write(200);
    large.write(310);
    await pass();
    expect(large.copy.ended).toMatch(/common limit of 500 MiB/);
    expect(small.copy.ended).toBeUndefined();
  });

  it('ends no other command when the copy that reached the common limit was emptied', async () => {
    const monitor = openMonitor(500);
    const [small, large] = [start(monitor), start(monitor)];
    small.write(200);
    large.write(310);
    await pass();
    await large.watch.stop();
    large.write(-310);
    large.copy.knownSpace = { bytes: 0, entries: 0 };
    await pass(500);
    await pass(600);
    expect(small.copy.ended).toBeUndefined();
    expect(monitor.freeBytes()).toBe(300 * MIB);
  });

  it('does not count a copy that was removed while it was measured', async () => {
    const monitor = openMonitor(500);
    const { copy, watch, write } = start(monitor);
    const measured = Promise.withResolvers<void>();
    copy.measure = async () => {
      await measured.promise;
      copy.knownSpace = { bytes: copy.bytes, entries: 0 };
      return copy.knownSpace;
    };
    write(510);
    await pass();
    const stopped = watch.stop();
    monitor.forget(copy);
    usedBytes = 0;
    measured.resolve();
    await stopped;
    await pass();
    expect(monitor.freeBytes()).toBe(500 * MIB);
  });

  it('ends a command whose copy the kernel reports as full for a second', async () => {
    const monitor = openMonitor();
    const copy = new FakeCopy(undefined);
    monitor.watch(copy, (limit) => {
      copy.ended = limit;
    });
    copy.fullLimit = 'the copy is full';
    await pass(900);
    copy.fullLimit = undefined;
    await pass(200);
    copy.fullLimit = 'the copy is full';
    await pass(900);
    expect(copy.ended).toBeUndefined();
    await pass(300);
    expect(copy.ended).toBe('the copy is full');
  });

  it('continues after the disk could not be read', async () => {
    const { copy, write } = start(openMonitor(), 100);
    write(101);
    isUnreadable = true;
    await pass();
    expect(copy.ended).toBeUndefined();
    isUnreadable = false;
    await pass();
    expect(copy.ended).toBe('the copy of the workspace exceeded its limit of 100 MiB');
  });
});
