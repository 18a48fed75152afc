import type { Clock } from '../../../lib/clock.ts';
import { createFetch } from './fetch.ts';
import { createOptionalProviders } from './optional-providers.ts';
import { PROVIDER_PACKAGES } from './packages.ts';
import { ANTHROPIC_PARTS, ENDPOINT_PARTS, OPENAI_PARTS } from './part-support.ts';
import { isBlank, isEmpty, loaders, type ModelProvider, required, serverOf } from './provider.ts';
import { ANTHROPIC_URL, OPENAI_URL, type ProviderSettings } from './provider-settings.ts';

/** Enough for a long answer with thinking. The Anthropic package lowers it for models with a smaller limit. */
export const ANTHROPIC_TOKENS = 32_000;
export const OPENAI_TOKENS = 16_384;
/** Some servers reject a limit that exceeds their context together with the prompt, and many have a small context. */
const ENDPOINT_TOKENS = 4_096;

/** Returns all HTTP providers by name. */
export function createProviders(
  settings: ProviderSettings,
  clock: Clock,
  packages = PROVIDER_PACKAGES,
): Map<string, ModelProvider> {
  const { modelEndpoints = {}, modelEndpointKeys = {} } = settings;
  const providers = new Map<string, ModelProvider>([
    ['anthropic', anthropic(settings)],
    ['openai', openai(settings)],
    ...Object.entries(createOptionalProviders(settings, clock, packages)),
  ]);
  for (const [name, url] of Object.entries(modelEndpoints)) {
    const key = Object.hasOwn(modelEndpointKeys, name) ? modelEndpointKeys[name] : undefined;
    providers.set(name, endpoint(name, url, key, settings));
  }
  return providers;
}

function anthropic({
  anthropicApiKey: apiKey,
  anthropicBaseUrl: baseURL = ANTHROPIC_URL,
  modelTraceContext,
}: ProviderSettings): ModelProvider {
  const open = async (key: string) => {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    const provider = createAnthropic({ apiKey: key, baseURL, fetch: createFetch(baseURL, [key]) });
    return (modelId: string) => provider.messages(modelId);
  };
  const traits = {
    optionsName: 'anthropic',
    maxOutputTokens: ANTHROPIC_TOKENS,
    outputMode: 'native',
    defaults: {},
    parts: ANTHROPIC_PARTS,
    caching: 'breakpoints',
  } as const;
  return {
    server: serverOf('anthropic', baseURL, modelTraceContext),
    telemetryName: 'anthropic',
    ...loaders(open, required('anthropic', apiKey)),
    rejectsText: isBlank,
    traitsOf: () => traits,
  };
}

/**
 * This service stores sessions itself, so OpenAI does not store them and returns encrypted reasoning instead. Its strict
 * mode rejects most schemas, for example those with optional properties, and this service checks the output anyway.
 */
export const OPENAI_DEFAULTS = { store: false, strictJsonSchema: false };

function openai({
  openaiApiKey: apiKey,
  openaiBaseUrl: baseURL = OPENAI_URL,
  modelTraceContext,
}: ProviderSettings): ModelProvider {
  const open = async (key: string) => {
    const { createOpenAI } = await import('@ai-sdk/openai');
    const provider = createOpenAI({ apiKey: key, baseURL, fetch: createFetch(baseURL, [key]) });
    return (modelId: string) => provider.responses(modelId);
  };
  const traits = {
    optionsName: 'openai',
    maxOutputTokens: OPENAI_TOKENS,
    outputMode: 'native',
    defaults: OPENAI_DEFAULTS,
    parts: OPENAI_PARTS,
    caching: 'session_key',
  } as const;
  return {
    server: serverOf('openai', baseURL, modelTraceContext),
    telemetryName: 'openai',
    ...loaders(open, required('openai', apiKey)),
    rejectsText: isEmpty,
    traitsOf: () => traits,
  };
}

function endpoint(
  name: string,
  baseURL: string,
  apiKey: string | undefined,
  { modelTraceContext }: ProviderSettings,
): ModelProvider {
  const open = async (key?: string) => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const fetch = createFetch(baseURL, key === undefined ? [] : [key]);
    const provider = createOpenAICompatible({ name, baseURL, apiKey: key, fetch, includeUsage: true });
    return (modelId: string) => provider.chatModel(modelId);
  };
  const traits = {
    optionsName: name,
    maxOutputTokens: ENDPOINT_TOKENS,
    // Many servers reject a response format.
    outputMode: 'instruction',
    defaults: {},
    parts: ENDPOINT_PARTS,
    // Many servers reject unknown members.
    caching: undefined,
  } as const;
  return {
    server: serverOf(name, baseURL, modelTraceContext),
    telemetryName: name,
    ...loaders<string | undefined>(open, () => apiKey),
    rejectsText: isEmpty,
    traitsOf: () => traits,
  };
}
