import type { AmazonBedrockLanguageModelOptions } from '@ai-sdk/amazon-bedrock';
import type { AnthropicLanguageModelOptions } from '@ai-sdk/anthropic';
import type { GoogleLanguageModelOptions } from '@ai-sdk/google';
import type { OpenAILanguageModelResponsesOptions } from '@ai-sdk/openai';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type PROVIDER_OPTIONS, unknownModelOptions } from '../../lib/model-options.ts';

describe('unknownModelOptions', () => {
  it.each(['anthropic/claude-sonnet-4-5', 'openai/gpt-5', 'openai/ft:gpt-4o:team::id'])(
    'names the unknown options of %s in their order',
    (model) => {
      const options = { temprature: 1, temperature: 1, top_p: 1, 'a/b': null, serviceTier: 'auto' };
      expect(unknownModelOptions(model, options)).toEqual(['temprature', 'a/b']);
    },
  );

  it('knows the options of one provider only for that provider', () => {
    const options = { thinking: {}, reasoningEffort: 'low' };
    expect(unknownModelOptions('anthropic/m', options)).toEqual(['reasoningEffort']);
    expect(unknownModelOptions('openai/m', options)).toEqual(['thinking']);
  });

  it('knows the options of the API that a model of a cloud provider has', () => {
    expect(unknownModelOptions('vertex/gemini-2.5-pro', { thinkingConfig: {}, thinking: {} })).toEqual([
      'thinking',
    ]);
    expect(unknownModelOptions('vertex/claude-sonnet-5', { thinkingConfig: {}, thinking: {} })).toEqual([
      'thinkingConfig',
    ]);
    expect(
      unknownModelOptions('bedrock/eu.amazon.nova-pro-v1:0', { guardrailConfig: {}, thinking: {} }),
    ).toEqual(['thinking']);
  });

  it('treats names of Object.prototype as unknown', () => {
    const options = JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3}');
    expect(unknownModelOptions('openai/m', options)).toEqual(['__proto__', 'constructor', 'toString']);
  });

  it.each(['rehearsal/script', 'local/llama', 'constructor/m', 'echo', ''])(
    'accepts every name for %j',
    (model) => {
      expect(unknownModelOptions(model, { steps: [], min_p: 1 })).toEqual([]);
    },
  );

  it('lists the options of the installed provider packages', () => {
    // Compared by the type checker: a new release of a package that adds or removes an option fails it.
    type Names<Provider extends keyof typeof PROVIDER_OPTIONS> = (typeof PROVIDER_OPTIONS)[Provider][number];
    expectTypeOf<Names<'anthropic'>>().toEqualTypeOf<keyof AnthropicLanguageModelOptions>();
    expectTypeOf<Names<'openai'>>().toEqualTypeOf<keyof OpenAILanguageModelResponsesOptions>();
    expectTypeOf<Names<'azure'>>().toEqualTypeOf<keyof OpenAILanguageModelResponsesOptions>();
    expectTypeOf<Names<'gemini' | 'vertex'>>().toEqualTypeOf<keyof GoogleLanguageModelOptions>();
    expectTypeOf<Names<'bedrock'>>().toEqualTypeOf<keyof AmazonBedrockLanguageModelOptions>();
  });
});
