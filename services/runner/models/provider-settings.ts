import { type Settings, setting } from '../../../lib/env.ts';
import {
  optionalProviderKeys,
  optionalProviderSettings,
  optionalProviderUrls,
} from './optional-provider-settings.ts';

export const ANTHROPIC_URL = 'https://api.anthropic.com/v1';
export const OPENAI_URL = 'https://api.openai.com/v1';

export const providerSettings = {
  anthropicApiKey: setting.optionalKey(
    'SERVICE_ANTHROPIC_API_KEY',
    'API key of Anthropic. Models named anthropic/<model id> need it. Only runners read it.',
  ),
  anthropicBaseUrl: setting.baseUrl('SERVICE_ANTHROPIC_BASE_URL', {
    fallback: ANTHROPIC_URL,
    about: 'Base URL of the Anthropic Messages API.',
  }),
  openaiApiKey: setting.optionalKey(
    'SERVICE_OPENAI_API_KEY',
    'API key of OpenAI. Models named openai/<model id> need it. Only runners read it.',
  ),
  openaiBaseUrl: setting.baseUrl('SERVICE_OPENAI_BASE_URL', {
    fallback: OPENAI_URL,
    about: 'Base URL of the OpenAI Responses API.',
  }),
  ...optionalProviderSettings,
  modelTraceContext: setting.list(
    'SERVICE_MODEL_TRACE_CONTEXT',
    'provider or host names, separated by commas',
    {
      fallback: [],
      about:
        'Model providers whose requests carry the trace context in the header traceparent: anthropic, openai, bedrock, vertex, azure, gemini, names in ' +
        'SERVICE_MODEL_ENDPOINTS, or host names of their URLs. Default: none.',
    },
  ),
  modelEndpointKeys: setting.optionalKeys(
    'SERVICE_MODEL_ENDPOINT_KEYS',
    'API keys of the SERVICE_MODEL_ENDPOINTS that require one. Only runners read them.',
  ),
};

/** Returns the names by which SERVICE_MODEL_TRACE_CONTEXT can select a provider: its own and those of its host. */
export function providerNames(settings: ProviderSettings): Set<string> {
  const { anthropicBaseUrl = ANTHROPIC_URL, openaiBaseUrl = OPENAI_URL, modelEndpoints = {} } = settings;
  const optional = optionalProviderUrls(settings);
  const urls = { ...modelEndpoints, anthropic: anthropicBaseUrl, openai: openaiBaseUrl, ...optional };
  return new Set(
    Object.entries(urls).flatMap(([name, url]) =>
      url === undefined ? [name] : [name, new URL(url).hostname, new URL(url).host],
    ),
  );
}

/** Returns the names of the providers whose API key is configured. */
export function keyProviders(settings: ProviderSettings): string[] {
  const { anthropicApiKey: anthropic, openaiApiKey: openai, modelEndpointKeys = {} } = settings;
  const keys = { anthropic, openai, ...optionalProviderKeys(settings), ...modelEndpointKeys };
  return Object.entries(keys).flatMap(([name, key]) => (key === undefined ? [] : [name]));
}

/** The settings of the model providers. */
export type ProviderSettings = Partial<Settings<typeof providerSettings>> & {
  /** Base URLs of OpenAI-compatible endpoints, by name. */
  modelEndpoints?: Record<string, string> | undefined;
};
