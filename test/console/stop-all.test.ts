import { describe, expect, it } from 'vitest';
import { stopAll } from '../../console/pages/sessions/stop-all.ts';

describe('stopAll', () => {
  it('stops the other sessions when one cannot be stopped', async () => {
    const stopped: string[] = [];
    const refused = new Error('refused');
    const result = await stopAll(['a', 'b', 'c'], async (id) => {
      if (id === 'a') throw refused;
      stopped.push(id);
    });
    expect(result).toEqual({ stopped: 2, failedIds: ['a'], error: refused });
    expect(stopped).toEqual(['b', 'c']);
  });

  it('sends at most four requests at a time, so that none times out while it waits for a connection', async () => {
    const ids = Array.from({ length: 50 }, (_, index) => `${index}`);
    let running = 0;
    let most = 0;
    const stopped: string[] = [];
    const { stopped: count } = await stopAll(ids, async (id) => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      stopped.push(id);
    });
    expect(most).toBe(4);
    expect(count).toBe(50);
    expect(stopped).toHaveLength(50);
  });

  it('does nothing without sessions', async () => {
    expect(await stopAll([], async () => {})).toEqual({ stopped: 0, failedIds: [], error: undefined });
  });
});
