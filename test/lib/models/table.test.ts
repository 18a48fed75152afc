import { describe, expect, it } from 'vitest';
import { acceptsMediaType } from '../../../lib/model-media.ts';
import { createModelTable } from '../../../lib/models/table.ts';

describe('createModelTable', () => {
  const table = createModelTable();

  it('declares plausible limits for every model of a provider', () => {
    const models = table.entries.filter(({ name }) => !name.startsWith('rehearsal/'));
    expect(models.length).toBeGreaterThan(50);
    for (const { name, contextWindow = 0, maxOutput = 0 } of models) {
      expect(name).toMatch(/^(anthropic|openai|bedrock|vertex|azure|gemini)\/\S+$/);
      expect(contextWindow).toBeGreaterThanOrEqual(maxOutput);
      expect(maxOutput).toBeGreaterThanOrEqual(4_096);
    }
    expect(new Set(table.entries.map(({ name }) => name)).size).toBe(table.entries.length);
  });

  it.each([
    ['anthropic/claude-sonnet-4-5-20250929', 'anthropic/claude-sonnet-4-5'],
    ['anthropic/claude-opus-4-20250514', 'anthropic/claude-opus-4-0'],
    ['anthropic/claude-3-7-sonnet-20250219', 'anthropic/claude-3-7-sonnet-latest'],
    ['openai/gpt-5-2025-08-07', 'openai/gpt-5'],
    ['openai/gpt-4-0613', 'openai/gpt-4'],
    ['openai/gpt-4o-2024-05-13', 'openai/gpt-4o-2024-05-13'],
    ['openai/ft:gpt-4o-mini-2024-07-18:acme::abc123', 'openai/gpt-4o-mini'],
    ['bedrock/eu.anthropic.claude-opus-4-6-v1', 'bedrock/anthropic.claude-opus-4-6-v1'],
    ['bedrock/us.amazon.nova-pro-v1:0', 'bedrock/amazon.nova-pro-v1:0'],
    ['bedrock/arn:aws:bedrock:eu-west-1::inference-profile/eu.x', undefined],
    ['vertex/claude-sonnet-4-5@20250929', 'vertex/claude-sonnet-4-5'],
    ['vertex/claude-opus-4@20250514', 'vertex/claude-opus-4-0'],
    ['vertex/gemini-2.0-flash-001', 'vertex/gemini-2.0-flash'],
    ['azure/gpt-5-2025-08-07', 'azure/gpt-5'],
    ['openai/gpt-4o-audio-preview', undefined],
    ['openai/gpt-99', undefined],
    ['local/gpt-5', undefined],
    ['gpt-5', undefined],
  ])('applies to %s the entry of %s', (name, expected) => {
    expect(table.find(name)?.name).toBe(expected);
  });

  it('extends and overrides entries member by member', () => {
    const changed = createModelTable([
      { name: 'openai/gpt-5', contextWindow: 100_000, capabilities: { caching: false } },
      { name: 'local/small', maxOutput: 512, capabilities: {} },
    ]);
    expect(changed.find('openai/gpt-5-2025-08-07')).toMatchObject({
      contextWindow: 100_000,
      maxOutput: 128_000,
      capabilities: { tools: true, images: true, structuredOutput: true, caching: false },
    });
    expect(changed.find('local/small')).toEqual({ name: 'local/small', maxOutput: 512, capabilities: {} });
    expect(table.find('openai/gpt-5')?.contextWindow).toBe(400_000);
  });

  it('bases an entry for a snapshot on the entry of its base model', () => {
    const { find } = createModelTable([
      { name: 'openai/gpt-5-2025-08-07', maxOutput: 1_000, capabilities: {} },
    ]);
    expect(find('openai/gpt-5-2025-08-07')).toMatchObject({ contextWindow: 400_000, maxOutput: 1_000 });
    expect(find('openai/gpt-5')?.maxOutput).toBe(128_000);
  });

  it('keeps the accepted media types in agreement with the capability of images', () => {
    const accepts = (name: string, images: boolean | undefined, mediaTypes?: string[]) => {
      const entry = {
        name,
        capabilities: images === undefined ? {} : { images },
        ...(mediaTypes && { mediaTypes }),
      };
      const found = createModelTable([entry]).find(name);
      const types = ['image/png', 'application/pdf', 'text/csv'].map((type) => acceptsMediaType(found, type));
      return [found?.capabilities.images, ...types];
    };
    expect(accepts('local/a', undefined)).toEqual([undefined, undefined, undefined, undefined]);
    expect(accepts('local/a', true)).toEqual([true, true, false, true]);
    expect(accepts('local/a', false)).toEqual([false, false, false, true]);
    expect(accepts('local/a', undefined, ['image/*'])).toEqual([true, true, false, false]);
    expect(accepts('openai/gpt-5', false)).toEqual([false, false, true, true]);
    expect(accepts('openai/gpt-5', undefined, ['text/*'])).toEqual([false, false, false, true]);
    expect(accepts('openai/o3-mini', true)).toEqual([true, true, false, true]);
  });
});
