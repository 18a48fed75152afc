import { describe, expect, it } from 'vitest';
import { openAgentsSystem } from './system.ts';

describe('the learned context window of a model', () => {
  it('is that of the newest report, for all runners', async () => {
    await using agents = await openAgentsSystem('in process');
    const runner = agents.as('runner');
    const model = 'local/qwen3:8b';
    expect(await runner.getModelWindow({ model })).toEqual({ window: undefined });
    for (const window of [8_192, 8_192, 4_096]) {
      await runner.storeModelWindow({ model, window });
      expect(await runner.getModelWindow({ model })).toEqual({ window });
    }
    expect(await runner.getModelWindow({ model: 'local/other' })).toEqual({ window: undefined });
  });

  it.each([
    ['an empty model', { model: '', window: 8_192 }],
    ['a NUL character', { model: 'local/\0', window: 8_192 }],
    ['a window of 0', { model: 'local/qwen3:8b', window: 0 }],
  ])('is refused with %s', async (_, request) => {
    await using agents = await openAgentsSystem('in process');
    await expect(agents.as('runner').storeModelWindow(request)).rejects.toMatchObject({
      code: expect.stringMatching(/^INVALID_/),
    });
  });
});
