import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MonitoredResponse, StallMonitor } from '../../../edge/streaming/stall-monitor.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';

const STALL_MS = 30_000;
/** A stall is detected at a check, and begins at one. */
const DETECTED_MS = STALL_MS + 4_000;
const STEP_MS = 500;

/** A response to a client that reads only when the test says so. */
class FakeResponse implements MonitoredResponse {
  readonly socket = {} as Socket;
  isPending = true;
  acceptedBytes = 0;
  /** The bytes in the buffer of the operating system. */
  sendQueue: number | undefined = 90_000;
  resets = 0;

  reset(): void {
    this.resets++;
    this.isPending = false;
  }
}

describe('StallMonitor', () => {
  let clock: FakeClock;
  let monitor: StallMonitor;
  let response: FakeResponse;
  let queueReads: number;
  let stalls: number;
  beforeEach(() => {
    clock = createFakeClock();
    queueReads = 0;
    stalls = 0;
    response = new FakeResponse();
    const responses = new Map([[response.socket, response]]);
    monitor = new StallMonitor({
      clock,
      stallMs: STALL_MS,
      onStall: () => stalls++,
      readSendQueues: async () => {
        queueReads++;
        return (socket) => responses.get(socket)?.sendQueue;
      },
    });
    monitor.note(response);
  });
  afterEach(() => monitor.stop());

  /** Passes time in steps. `act` runs at the beginning of each step. */
  async function pass(ms: number, act: () => void = () => {}): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      act();
      clock.advance(STEP_MS);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it('resets a response whose client reads nothing for the stall time, and not before', async () => {
    await pass(STALL_MS);
    expect(response.resets).toBe(0);
    await pass(DETECTED_MS - STALL_MS);
    expect([response.resets, stalls]).toEqual([1, 1]);
    await pass(DETECTED_MS);
    expect([response.resets, stalls]).toEqual([1, 1]);
  });

  it('keeps a response while the operating system accepts its data', async () => {
    await pass(10 * STALL_MS, () => response.acceptedBytes++);
    expect([response.resets, queueReads]).toEqual([0, 0]);
    await pass(DETECTED_MS);
    expect(response.resets).toBe(1);
  });

  it('keeps a response whose client acknowledges data before the operating system accepts more', async () => {
    await pass(3 * STALL_MS, () => {
      if (response.sendQueue) response.sendQueue -= 10;
    });
    expect(response.resets).toBe(0);
    await pass(DETECTED_MS);
    expect(response.resets).toBe(1);
  });

  it('does not count heartbeats and other writes as progress', async () => {
    await pass(DETECTED_MS, () => {
      // A chunk header is part of the waiting bytes, so the accepted bytes seem to decrease.
      response.acceptedBytes -= 6;
      monitor.note(response);
    });
    expect(response.resets).toBe(1);
  });

  it('begins anew when the waiting data has been read meanwhile', async () => {
    await pass(STALL_MS - 5_000);
    response.isPending = false;
    await pass(5_000);
    response.isPending = true;
    monitor.note(response);
    await pass(STALL_MS);
    expect(response.resets).toBe(0);
    await pass(DETECTED_MS - STALL_MS);
    expect(response.resets).toBe(1);
  });

  it('resets a stalled response when send queues are unknown', async () => {
    response.sendQueue = undefined;
    await pass(DETECTED_MS);
    expect(response.resets).toBe(1);
  });

  it('has no timer while no data waits', async () => {
    response.isPending = false;
    await pass(10_000);
    let reads = 0;
    Object.defineProperty(response, 'isPending', { get: () => reads++ > Number.POSITIVE_INFINITY });
    await pass(10_000);
    expect(reads).toBe(0);
  });
});
