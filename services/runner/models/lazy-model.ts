import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { withoutRejectedTexts } from './user-text.ts';

/** Returns the model of the provider's package, which is imported at the first use. */
export type ModelLoader = (modelId: string) => Promise<LanguageModelV4>;

interface LazyModelOptions {
  provider: string;
  modelId: string;
  load: ModelLoader;
  /** Whether the provider rejects a user message with this text. */
  rejectsText(text: string): boolean;
}

/** Creates a model that loads its provider at the first request. Requests reject when loading fails. */
export function createLazyModel({ provider, modelId, load, rejectsText }: LazyModelOptions): LanguageModelV4 {
  let loaded: Promise<LanguageModelV4> | undefined;
  const open = () => {
    loaded ??= load(modelId);
    return loaded;
  };
  const accepted = (options: LanguageModelV4CallOptions): LanguageModelV4CallOptions => ({
    ...options,
    prompt: withoutRejectedTexts(options.prompt, rejectsText),
  });
  return {
    specificationVersion: 'v4',
    provider,
    modelId,
    get supportedUrls() {
      return open().then((model) => model.supportedUrls);
    },
    doGenerate: async (options) => (await open()).doGenerate(accepted(options)),
    doStream: async (options) => (await open()).doStream(accepted(options)),
  };
}
