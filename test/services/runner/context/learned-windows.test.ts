import { describe, expect, it } from 'vitest';
import { createLearnedWindows } from '../../../../services/runner/context/learned-windows.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { createFakeClock } from '../../../support/clock.ts';

const MODEL = 'openai/gpt-5-mini';
const MINUTE_MS = 60_000;

/** The windows of a runner, and those that the agents service has. It takes none while `isDown`. */
function openWindows() {
  const stored = new Map<string, number>();
  const state = { isDown: false, reads: 0 };
  const agents = {
    async getModelWindow({ model = '' }) {
      state.reads++;
      return { window: stored.get(model), declaredWindow: undefined };
    },
    async storeModelWindow({ model = '', window = 0 }) {
      if (state.isDown) throw new Error('down');
      stored.set(model, window);
      return {};
    },
  };
  const clock = createFakeClock();
  return { windows: createLearnedWindows({ agents, clock, log: captureLog().log }), stored, state, clock };
}

describe('the learned windows of a runner', () => {
  it('are read again after a minute, so that a window of another runner counts', async () => {
    const { windows, stored, state, clock } = openWindows();
    expect(await windows.find(MODEL)).toBeUndefined();
    stored.set(MODEL, 8_000);
    expect(await windows.find(MODEL)).toBeUndefined();
    clock.advance(MINUTE_MS);
    expect(await windows.find(MODEL)).toBe(8_000);
    expect(state.reads).toBe(2);
  });

  it('keep a window that could not be stored', async () => {
    const { windows, state, clock } = openWindows();
    state.isDown = true;
    await windows.store(MODEL, 8_000);
    state.isDown = false;
    clock.advance(MINUTE_MS);
    expect(await windows.find(MODEL)).toBe(8_000);
    clock.advance(MINUTE_MS);
    expect(await windows.find(MODEL)).toBe(8_000);
  });
});
