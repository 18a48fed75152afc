import { describe, expect, it } from 'vitest';
import { chooseWindow } from '../../lib/context-settings.ts';

describe('the context window of a model', () => {
  const choose = (ofAgent?: number, declared?: number, learned?: number) =>
    chooseWindow({ ofAgent, declared, learned });

  it.each([
    ['of the agent before that of the table', [8_000, 200_000, undefined], [8_000, 'agent']],
    ['of the table without one of the agent', [undefined, 200_000, undefined], [200_000, 'model']],
    [
      'of a refusal if it is smaller than that of the table',
      [undefined, 200_000, 32_000],
      [32_000, 'provider'],
    ],
    ['of a refusal if it is smaller than that of the agent', [64_000, 200_000, 32_000], [32_000, 'provider']],
    ['of the agent if it is smaller than that of a refusal', [8_000, 200_000, 32_000], [8_000, 'agent']],
    ['of a refusal if there is no other', [undefined, undefined, 32_000], [32_000, 'provider']],
  ] as const)('is the one %s', (_, [ofAgent, declared, learned], [window, windowSource]) => {
    expect(choose(ofAgent, declared, learned)).toEqual({ window, windowSource });
  });

  it('is unknown without any of them', () => {
    expect(choose()).toBeUndefined();
  });
});
