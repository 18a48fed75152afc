import type { JSONObject, LanguageModelV4 } from '@ai-sdk/provider';
import { ANTHROPIC_URL, OPENAI_URL, type ProviderSettings } from '../config.ts';
import { createFetch } from './fetch.ts';
import type { Load } from './remote.ts';

export interface Provider {
  load: Load;
  /** What one step may produce when nobody says. */
  maxOutputTokens: number;
  /** What its models are told unless their agent says otherwise. */
  defaults: JSONObject;
}

/** Nobody has given this runner the key of a provider. */
export class KeyMissing extends Error {
  override readonly name = 'KeyMissing';
  readonly provider: string;

  constructor(provider: string) {
    super(`no key for ${provider}`);
    this.provider = provider;
  }
}

/** Room for a long answer and the thoughts before it; where a model of Anthropic has less, its package says so. */
const ANTHROPIC_TOKENS = 32_000;
const OPENAI_TOKENS = 16_384;
/** Some servers refuse what prompt and answer together could not hold, and many hold little. */
const ENDPOINT_TOKENS = 4_096;

/** All providers of models over HTTP, by name. */
export function createProviders(settings: ProviderSettings): Map<string, Provider> {
  const { modelEndpoints = {}, modelEndpointKeys = {} } = settings;
  const providers = new Map([
    ['anthropic', anthropic(settings)],
    ['openai', openai(settings)],
  ]);
  for (const [name, url] of Object.entries(modelEndpoints)) {
    const key = Object.hasOwn(modelEndpointKeys, name) ? modelEndpointKeys[name] : undefined;
    providers.set(name, endpoint(name, url, key));
  }
  return providers;
}

function anthropic({
  anthropicApiKey: apiKey,
  anthropicBaseUrl: baseURL = ANTHROPIC_URL,
}: ProviderSettings): Provider {
  const load = once(async () => {
    if (apiKey === undefined) throw new KeyMissing('anthropic');
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    const provider = createAnthropic({ apiKey, baseURL, fetch: createFetch(apiKey) });
    return (modelId) => provider.messages(modelId);
  });
  return { load, maxOutputTokens: ANTHROPIC_TOKENS, defaults: {} };
}

/** Sessions are kept here: OpenAI is not asked to keep them as well, and hands out its thoughts sealed instead. */
function openai({ openaiApiKey: apiKey, openaiBaseUrl: baseURL = OPENAI_URL }: ProviderSettings): Provider {
  const load = once(async () => {
    if (apiKey === undefined) throw new KeyMissing('openai');
    const { createOpenAI } = await import('@ai-sdk/openai');
    const provider = createOpenAI({ apiKey, baseURL, fetch: createFetch(apiKey) });
    return (modelId) => provider.responses(modelId);
  });
  return { load, maxOutputTokens: OPENAI_TOKENS, defaults: { store: false } };
}

function endpoint(name: string, baseURL: string, apiKey: string | undefined): Provider {
  const load = once(async () => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const fetch = createFetch(apiKey);
    const provider = createOpenAICompatible({ name, baseURL, apiKey, fetch, includeUsage: true });
    return (modelId) => provider.chatModel(modelId);
  });
  return { load, maxOutputTokens: ENDPOINT_TOKENS, defaults: {} };
}

/** Opens a provider at its first use, and again only when that has failed. */
function once(open: () => Promise<(modelId: string) => LanguageModelV4>): Load {
  let opened: ReturnType<typeof open> | undefined;
  return async (modelId) => {
    opened ??= open();
    try {
      return (await opened)(modelId);
    } catch (error) {
      opened = undefined;
      throw error;
    }
  };
}
