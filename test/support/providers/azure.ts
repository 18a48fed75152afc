import { openai } from './openai.ts';
import type { ProviderProtocol } from './protocol.ts';

const KEY = 'azure-key-0123456789';

/** https://learn.microsoft.com/azure/ai-foundry/openai/reference-preview-latest: the Responses API of OpenAI. */
export const azure: ProviderProtocol = {
  ...openai,
  name: 'azure',
  model: 'azure/gpt-5-mini',
  path: '/openai/v1/responses',
  key: KEY,
  credential: ['api-key', KEY],
  settings: (url) => ({ azureApiKey: KEY, azureBaseUrl: `${url}/openai/v1` }),
};
