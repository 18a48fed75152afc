import type { LanguageModelV4 } from '@ai-sdk/provider';

/** Gives the provider's own model; its package is loaded at the first use. */
export type Load = (modelId: string) => Promise<LanguageModelV4>;

/** A model of a provider that is loaded when it is asked for the first time. Fails as the loading does. */
export function createRemote(provider: string, modelId: string, load: Load): LanguageModelV4 {
  let loaded: Promise<LanguageModelV4> | undefined;
  const open = () => {
    loaded ??= load(modelId);
    return loaded;
  };
  return {
    specificationVersion: 'v4',
    provider,
    modelId,
    get supportedUrls() {
      return open().then((model) => model.supportedUrls);
    },
    doGenerate: async (options) => (await open()).doGenerate(options),
    doStream: async (options) => (await open()).doStream(options),
  };
}
