import { type Settings, setting } from '../../../lib/env.ts';

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
  modelEndpointKeys: setting.optionalKeys(
    'SERVICE_MODEL_ENDPOINT_KEYS',
    'API keys of the SERVICE_MODEL_ENDPOINTS that require one. Only runners read them.',
  ),
};

/** The settings of the model providers. */
export type ProviderSettings = Partial<Settings<typeof providerSettings>> & {
  /** Base URLs of OpenAI-compatible endpoints, by name. */
  modelEndpoints?: Record<string, string> | undefined;
};
