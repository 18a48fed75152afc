import type { Clock } from '../../../lib/clock.ts';
import { createFetch } from './fetch.ts';
import { optionalProviderUrls, type ServiceAccount } from './optional-provider-settings.ts';
import { importPackage, type ProviderPackages } from './packages.ts';
import { configured, IncompleteProvider, type OpenModel } from './provider.ts';
import type { ProviderSettings } from './provider-settings.ts';
import { createTokenSource } from './vertex-token.ts';

/** A service account, or an API key for Gemini models. */
export type VertexCredentials = ServiceAccount | string;

const EXPRESS_URL = 'https://aiplatform.googleapis.com';

/** Whether the id is of a Claude model, which has the API of Anthropic. Other models have that of Gemini. */
export function isClaudeOfVertex(modelId: string): boolean {
  return modelId.startsWith('claude-');
}

/** Returns a function that opens the models of Vertex AI with these credentials. */
export function createVertexOpener(
  settings: ProviderSettings,
  clock: Clock,
  packages: ProviderPackages,
): (credentials: VertexCredentials) => Promise<OpenModel> {
  const { vertex: baseUrl } = optionalProviderUrls(settings);

  /** An API key needs neither project nor location. It does not work for Claude. */
  async function withApiKey(apiKey: string): Promise<OpenModel> {
    const { createVertex } = await importPackage('vertex', packages.vertex);
    const url = settings.vertexBaseUrl ?? EXPRESS_URL;
    const baseURL = `${url}/v1/publishers/google`;
    const provider = createVertex({ apiKey, baseURL, fetch: createFetch(url, [apiKey]) });
    return (modelId) => {
      if (isClaudeOfVertex(modelId)) throw new IncompleteProvider(CLAUDE_NEEDS_ACCOUNT);
      return provider(modelId);
    };
  }

  async function withAccount(account: ServiceAccount): Promise<OpenModel> {
    const project = configured(settings.vertexProject, 'SERVICE_VERTEX_PROJECT');
    const { vertexLocation: location = 'global' } = settings;
    const path = `projects/${project}/locations/${location}/publishers`;
    const token = createTokenSource(account, clock);
    const { createVertex } = await importPackage('vertex', packages.vertex);
    const { createVertexAnthropic } = await importPackage('vertex', packages.vertexClaude);
    const fetchWithToken: typeof fetch = async (input, init) => {
      const accessToken = await token();
      const headers = new Headers(init?.headers);
      headers.delete(API_KEY_HEADER);
      headers.set('authorization', `Bearer ${accessToken}`);
      return createFetch(baseUrl, [accessToken])(input, { ...init, headers });
    };
    // The package would exchange the key of the account itself, with every request and always at Google. With an API key it
    // does not, and `fetchWithToken` replaces the key.
    const gemini = createVertex({
      apiKey: PLACEHOLDER,
      baseURL: `${baseUrl}/v1beta1/${path}/google`,
      fetch: fetchWithToken,
    });
    const claude = createVertexAnthropic({
      ...{ project, location },
      baseURL: `${baseUrl}/v1/${path}/anthropic/models`,
      generateAuthToken: async () => PLACEHOLDER,
      fetch: fetchWithToken,
    });
    return (modelId) => (isClaudeOfVertex(modelId) ? claude(modelId) : gemini(modelId));
  }

  return (credentials) =>
    typeof credentials === 'string' ? withApiKey(credentials) : withAccount(credentials);
}

const API_KEY_HEADER = 'x-goog-api-key';
const PLACEHOLDER = 'replaced';
const CLAUDE_NEEDS_ACCOUNT =
  'Claude models of vertex need SERVICE_VERTEX_CREDENTIALS. An API key works for Gemini models only.';
