import type { JSONObject, LanguageModelV4 } from '@ai-sdk/provider';
import { createFetch } from './fetch.ts';
import type { ModelLoader } from './lazy-model.ts';
import { ANTHROPIC_PARTS, ENDPOINT_PARTS, OPENAI_PARTS, type PartSupport } from './part-support.ts';
import { ANTHROPIC_URL, OPENAI_URL, type ProviderSettings } from './provider-settings.ts';

/** The server of a provider. */
export interface ModelServer {
  address: string;
  port: number;
  /** Whether requests carry the trace context, so that the server can continue the trace. */
  getsTraceContext: boolean;
}

export type OutputMode = 'native' | 'instruction';

interface ModelProvider {
  server: ModelServer;
  load: ModelLoader;
  /** Limit of output tokens of a step when neither the agent's options nor its budget set one. */
  maxOutputTokens: number;
  outputMode: OutputMode;
  /** Provider options that apply unless the agent overrides them. */
  defaults: JSONObject;
  /** Whether the provider rejects a user message with this text. */
  rejectsText(text: string): boolean;
  parts: PartSupport;
}

/** The operator of this runner has not configured the API key of a provider. */
export class MissingApiKey extends Error {
  override readonly name = 'MissingApiKey';
  readonly provider: string;

  constructor(provider: string) {
    super(`The API key of ${provider} is not configured.`);
    this.provider = provider;
  }
}

/** Enough for a long answer with thinking. The Anthropic package lowers it for models with a smaller limit. */
const ANTHROPIC_TOKENS = 32_000;
const OPENAI_TOKENS = 16_384;
/** Some servers reject a limit that exceeds their context together with the prompt, and many have a small context. */
const ENDPOINT_TOKENS = 4_096;

const isEmpty = (text: string) => text === '';
/** Anthropic requires text with at least one non-whitespace character. */
const isBlank = (text: string) => text.trim() === '';

/** Returns all HTTP providers by name. */
export function createProviders(settings: ProviderSettings): Map<string, ModelProvider> {
  const { modelEndpoints = {}, modelEndpointKeys = {}, modelTraceContext } = settings;
  const providers = new Map([
    ['anthropic', anthropic(settings)],
    ['openai', openai(settings)],
  ]);
  for (const [name, url] of Object.entries(modelEndpoints)) {
    const key = Object.hasOwn(modelEndpointKeys, name) ? modelEndpointKeys[name] : undefined;
    providers.set(name, endpoint(name, url, key, serverOf(name, url, modelTraceContext)));
  }
  return providers;
}

function anthropic({
  anthropicApiKey: apiKey,
  anthropicBaseUrl: baseURL = ANTHROPIC_URL,
  modelTraceContext,
}: ProviderSettings): ModelProvider {
  const load = loadOnce(async () => {
    if (apiKey === undefined) throw new MissingApiKey('anthropic');
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    const provider = createAnthropic({ apiKey, baseURL, fetch: createFetch(apiKey) });
    return (modelId) => provider.messages(modelId);
  });
  const server = serverOf('anthropic', baseURL, modelTraceContext);
  return {
    server,
    load,
    maxOutputTokens: ANTHROPIC_TOKENS,
    outputMode: 'native',
    defaults: {},
    rejectsText: isBlank,
    parts: ANTHROPIC_PARTS,
  };
}

/**
 * This service stores sessions itself, so OpenAI does not store them and returns encrypted reasoning instead. Its strict
 * mode rejects most schemas, for example those with optional properties, and this service checks the output anyway.
 */
function openai({
  openaiApiKey: apiKey,
  openaiBaseUrl: baseURL = OPENAI_URL,
  modelTraceContext,
}: ProviderSettings): ModelProvider {
  const load = loadOnce(async () => {
    if (apiKey === undefined) throw new MissingApiKey('openai');
    const { createOpenAI } = await import('@ai-sdk/openai');
    const provider = createOpenAI({ apiKey, baseURL, fetch: createFetch(apiKey) });
    return (modelId) => provider.responses(modelId);
  });
  const server = serverOf('openai', baseURL, modelTraceContext);
  return {
    server,
    load,
    maxOutputTokens: OPENAI_TOKENS,
    outputMode: 'native',
    defaults: { store: false, strictJsonSchema: false },
    rejectsText: isEmpty,
    parts: OPENAI_PARTS,
  };
}

function endpoint(
  name: string,
  baseURL: string,
  apiKey: string | undefined,
  server: ModelServer,
): ModelProvider {
  const load = loadOnce(async () => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const fetch = createFetch(apiKey);
    const provider = createOpenAICompatible({ name, baseURL, apiKey, fetch, includeUsage: true });
    return (modelId) => provider.chatModel(modelId);
  });
  return {
    server,
    load,
    maxOutputTokens: ENDPOINT_TOKENS,
    // Many servers reject a response format.
    outputMode: 'instruction',
    defaults: {},
    rejectsText: isEmpty,
    parts: ENDPOINT_PARTS,
  };
}

function serverOf(provider: string, url: string, traced: readonly string[] = []): ModelServer {
  const { hostname, host, port, protocol } = new URL(url);
  const getsTraceContext = [provider, hostname, host].some((name) => traced.includes(name));
  const address = hostname.replace(/^\[|\]$/g, '');
  return { address, port: Number(port || (protocol === 'https:' ? 443 : 80)), getsTraceContext };
}

/** Opens a provider at the first use, and again only after a failure. */
function loadOnce(open: () => Promise<(modelId: string) => LanguageModelV4>): ModelLoader {
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
