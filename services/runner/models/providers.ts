import type { JSONObject, LanguageModelV4 } from '@ai-sdk/provider';
import type { PromptCaching } from './cache-breakpoints.ts';
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
  /** Returns a loader of models that use this API key in place of the operator's. */
  loaderWith(apiKey: string): ModelLoader;
  /** Limit of output tokens of a step when neither the agent's options nor its budget set one. */
  maxOutputTokens: number;
  outputMode: OutputMode;
  /** Provider options that apply unless the agent overrides them. */
  defaults: JSONObject;
  /** Whether the provider rejects a user message with this text. */
  rejectsText(text: string): boolean;
  parts: PartSupport;
  /** Undefined for a provider that caches by itself, or not. */
  caching: PromptCaching | undefined;
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
  const open = async (key: string) => {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    const provider = createAnthropic({ apiKey: key, baseURL, fetch: createFetch(key) });
    return (modelId: string) => provider.messages(modelId);
  };
  const server = serverOf('anthropic', baseURL, modelTraceContext);
  return {
    server,
    ...loaders(open, required('anthropic', apiKey)),
    maxOutputTokens: ANTHROPIC_TOKENS,
    outputMode: 'native',
    defaults: {},
    rejectsText: isBlank,
    parts: ANTHROPIC_PARTS,
    caching: 'breakpoints',
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
  const open = async (key: string) => {
    const { createOpenAI } = await import('@ai-sdk/openai');
    const provider = createOpenAI({ apiKey: key, baseURL, fetch: createFetch(key) });
    return (modelId: string) => provider.responses(modelId);
  };
  const server = serverOf('openai', baseURL, modelTraceContext);
  return {
    server,
    ...loaders(open, required('openai', apiKey)),
    maxOutputTokens: OPENAI_TOKENS,
    outputMode: 'native',
    defaults: { store: false, strictJsonSchema: false },
    rejectsText: isEmpty,
    parts: OPENAI_PARTS,
    caching: 'session_key',
  };
}

function endpoint(
  name: string,
  baseURL: string,
  apiKey: string | undefined,
  server: ModelServer,
): ModelProvider {
  const open = async (key?: string) => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const fetch = createFetch(key);
    const provider = createOpenAICompatible({ name, baseURL, apiKey: key, fetch, includeUsage: true });
    return (modelId: string) => provider.chatModel(modelId);
  };
  return {
    server,
    ...loaders<string | undefined>(open, () => apiKey),
    maxOutputTokens: ENDPOINT_TOKENS,
    // Many servers reject a response format.
    outputMode: 'instruction',
    defaults: {},
    rejectsText: isEmpty,
    parts: ENDPOINT_PARTS,
    // Many servers reject unknown members.
    caching: undefined,
  };
}

/** Returns the operator's API key. Throws MissingApiKey when it is not configured. */
function required(provider: string, apiKey: string | undefined): () => string {
  return () => {
    if (apiKey === undefined) throw new MissingApiKey(provider);
    return apiKey;
  };
}

type OpenModel = (modelId: string) => LanguageModelV4;

function loaders<Key extends string | undefined>(
  open: (apiKey: Key | string) => Promise<OpenModel>,
  operatorKey: () => Key | string,
): Pick<ModelProvider, 'load' | 'loaderWith'> {
  return {
    load: loadOnce(async () => open(operatorKey())),
    loaderWith: (apiKey) => loadOnce(() => open(apiKey)),
  };
}

function serverOf(provider: string, url: string, traced: readonly string[] = []): ModelServer {
  const { hostname, host, port, protocol } = new URL(url);
  const getsTraceContext = [provider, hostname, host].some((name) => traced.includes(name));
  const address = hostname.replace(/^\[|\]$/g, '');
  return { address, port: Number(port || (protocol === 'https:' ? 443 : 80)), getsTraceContext };
}

/** Opens a provider at the first use, and again only after a failure. */
function loadOnce(open: () => Promise<OpenModel>): ModelLoader {
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
