import { describe, expect, it } from 'vitest';
import { createModelTable } from '../../../lib/models/table.ts';
import { createModels } from '../../../services/runner/models/registry.ts';
import { createFakeClock } from '../../support/clock.ts';

describe('createModels', () => {
  const models = createModels(
    createFakeClock(),
    { modelEndpoints: { local: 'http://127.0.0.1:1/v1' } },
    createModelTable([{ name: 'local/small', contextWindow: 2_048, maxOutput: 512, capabilities: {} }]),
  );

  it.each([
    ['anthropic/claude-sonnet-5', 1_000_000, 32_000],
    ['anthropic/claude-3-haiku-20240307', 200_000, 4_096],
    ['openai/gpt-4-0613', 8_192, 8_192],
    ['openai/gpt-99', undefined, 16_384],
    ['local/small', 2_048, 512],
    ['local/other', undefined, 4_096],
    ['rehearsal/echo', undefined, 2 ** 31 - 1],
  ])('gives %s the context window %s and answers of at most %i tokens', (name, contextWindow, maxOutput) => {
    const model = models(name);
    expect(model?.entry?.contextWindow).toBe(contextWindow);
    expect(model?.maxOutputTokens).toBe(maxOutput);
  });
});
