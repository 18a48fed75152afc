import { describe, expect, it } from 'vitest';
import type { Model } from '../../console/gen/types.gen.ts';
import { modelChoices } from '../../console/parts/editor/model-choices.ts';

function model(name: string, members: Partial<Model> = {}): Model {
  const [provider = '', id = ''] = name.split('/');
  return {
    name,
    provider,
    model_id: id === '*' ? null : id,
    context_window: null,
    max_output: null,
    capabilities: { tools: null, images: null, structured_output: null, caching: null },
    media_types: null,
    key_configured: false,
    available: true,
    installed: true,
    ...members,
  };
}

describe('modelChoices', () => {
  it('offers usable models before those without a key, each with its limits', () => {
    const limits = { context_window: 200_000, max_output: 64_000 };
    expect(
      modelChoices([
        model('anthropic/claude-haiku-4-5', { ...limits, available: false }),
        model('rehearsal/echo'),
        model('openai/gpt-5', { context_window: 400_000, key_configured: true }),
        model('local/*'),
        model('gemini/gemini-2.5-pro', { available: false, installed: false }),
      ]),
    ).toEqual([
      { value: 'rehearsal/echo', text: 'Repeats the message. Needs no API key.' },
      { value: 'openai/gpt-5', text: 'Context window: 400,000 tokens.' },
      { value: 'local/', text: 'Append the ID of a model of this endpoint.' },
      {
        value: 'anthropic/claude-haiku-4-5',
        text: 'Context window: 200,000 tokens. Longest answer: 64,000 tokens. No API key of anthropic is configured.',
      },
      { value: 'gemini/gemini-2.5-pro', text: 'The package of gemini is not installed.' },
    ]);
  });

  it('offers providers while the list is not loaded', () => {
    const values = modelChoices(undefined).map(({ value }) => value);
    expect(values).toContain('rehearsal/echo');
    expect(values).toContain('anthropic/');
  });
});
