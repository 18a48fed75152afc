import { createPrivateKey } from 'node:crypto';
import { BASE_URL, parseBaseUrl } from '../../../lib/env/endpoints.ts';
import { type Setting, type SettingProblem, type Settings, setting } from '../../../lib/env.ts';

export const GEMINI_URL = 'https://generativelanguage.googleapis.com/v1beta';

/** The key of a service account of Google Cloud. */
export interface ServiceAccount {
  clientEmail: string;
  /** PEM */
  privateKey: string;
  keyId: string | undefined;
  /** Where a signed assertion is exchanged for an access token. */
  tokenUrl: string;
}

const TOKEN_URL = 'https://oauth2.googleapis.com/token';
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const PROJECT = /^[a-z0-9][a-z0-9.:-]{0,99}$/;

const matching = (pattern: RegExp, expected: string, variable: string, about: string) => ({
  ...setting.optionalText(variable, about),
  expected,
  parse(text: string): string {
    if (!pattern.test(text)) throw new Error(`is not ${expected}`);
    return text;
  },
});

/** A part of a host name. */
const label = (variable: string, about: string): Setting<string | undefined> =>
  matching(LABEL, 'a name of lower-case letters, digits and hyphens', variable, about);

const optionalBaseUrl = (variable: string, about: string): Setting<string | undefined> => ({
  ...setting.optionalText(variable, about),
  expected: BASE_URL,
  parse: parseBaseUrl,
});

const serviceAccount = (variable: string, about: string): Setting<ServiceAccount | undefined> => ({
  ...setting.optionalKey(variable, about),
  expected: 'the JSON key of a service account of Google Cloud',
  fallback: undefined,
  parse: parseServiceAccount,
});

/** The settings of the providers whose packages an operator installs. Only runners read them. */
export const optionalProviderSettings = {
  bedrockRegion: label(
    'SERVICE_BEDROCK_REGION',
    'AWS region of Amazon Bedrock, for example eu-central-1. Models named bedrock/<model id> need it.',
  ),
  bedrockApiKey: setting.optionalKey(
    'SERVICE_BEDROCK_API_KEY',
    'API key of Amazon Bedrock. Models named bedrock/<model id> need it, or an access key. Only runners read it.',
  ),
  bedrockAccessKeyId: setting.optionalKey(
    'SERVICE_BEDROCK_ACCESS_KEY_ID',
    'ID of the AWS access key that signs requests to Amazon Bedrock. Not used with SERVICE_BEDROCK_API_KEY. Only runners read it.',
  ),
  bedrockSecretAccessKey: setting.optionalKey(
    'SERVICE_BEDROCK_SECRET_ACCESS_KEY',
    'Secret of SERVICE_BEDROCK_ACCESS_KEY_ID. Only runners read it.',
  ),
  bedrockSessionToken: setting.optionalKey(
    'SERVICE_BEDROCK_SESSION_TOKEN',
    'Session token of a temporary SERVICE_BEDROCK_ACCESS_KEY_ID. A new one needs a restart. Only runners read it.',
  ),
  bedrockBaseUrl: optionalBaseUrl(
    'SERVICE_BEDROCK_BASE_URL',
    'Base URL of Amazon Bedrock Runtime. Default: the public one of SERVICE_BEDROCK_REGION. Set it for a proxy or a VPC endpoint.',
  ),
  azureApiKey: setting.optionalKey(
    'SERVICE_AZURE_API_KEY',
    'API key of Azure OpenAI. Models named azure/<deployment> need it. Only runners read it.',
  ),
  azureResourceName: label(
    'SERVICE_AZURE_RESOURCE_NAME',
    'Name of the Azure OpenAI resource, the first part of its host name. Models named azure/<deployment> need it, or ' +
      'SERVICE_AZURE_BASE_URL.',
  ),
  azureApiVersion: setting.text('SERVICE_AZURE_API_VERSION', {
    fallback: 'v1',
    about:
      'Version of the Azure OpenAI API. Not sent to a SERVICE_AZURE_BASE_URL on another host than those of Azure.',
  }),
  azureBaseUrl: optionalBaseUrl(
    'SERVICE_AZURE_BASE_URL',
    'Base URL of the Azure OpenAI Responses API, before /responses. Default: the public one of SERVICE_AZURE_RESOURCE_NAME.',
  ),
  vertexProject: {
    ...matching(
      PROJECT,
      'the ID of a project',
      'SERVICE_VERTEX_PROJECT',
      'ID of the Google Cloud project of Vertex AI. Models named vertex/<model id> need it, except with an API key.',
    ),
  },
  vertexLocation: {
    ...label('SERVICE_VERTEX_LOCATION', 'Location of Vertex AI, for example europe-west4, eu or global.'),
    shownDefault: 'global',
    fallback: 'global',
  },
  vertexCredentials: serviceAccount(
    'SERVICE_VERTEX_CREDENTIALS',
    'JSON key of a service account that may use Vertex AI. SERVICE_VERTEX_CREDENTIALS_FILE names the downloaded file. Models ' +
      'named vertex/<model id> need it, or an API key. Only runners read it.',
  ),
  vertexApiKey: setting.optionalKey(
    'SERVICE_VERTEX_API_KEY',
    'API key of Vertex AI in express mode, for Gemini models. Not used with SERVICE_VERTEX_CREDENTIALS. Only runners read it.',
  ),
  vertexBaseUrl: optionalBaseUrl(
    'SERVICE_VERTEX_BASE_URL',
    'Base URL of Vertex AI, before the version of the API. Default: the public one of SERVICE_VERTEX_LOCATION.',
  ),
  geminiApiKey: setting.optionalKey(
    'SERVICE_GEMINI_API_KEY',
    'API key of the Gemini API. Models named gemini/<model id> need it. Only runners read it.',
  ),
  geminiBaseUrl: setting.baseUrl('SERVICE_GEMINI_BASE_URL', {
    fallback: GEMINI_URL,
    about: 'Base URL of the Gemini API, with its version.',
  }),
};

export type OptionalProviderSettings = Partial<Settings<typeof optionalProviderSettings>>;

/** Messages of errors must not have a part of the text. */
function parseServiceAccount(text: string): ServiceAccount {
  let key: unknown;
  try {
    key = JSON.parse(text);
  } catch {
    throw new Error('is not valid JSON');
  }
  const { type, client_email, private_key, private_key_id, token_uri } = { ...(key as object) } as Record<
    string,
    unknown
  >;
  if (type !== 'service_account') throw new Error('is not the key of a service account');
  if (typeof client_email !== 'string' || typeof private_key !== 'string' || !isPrivateKey(private_key))
    throw new Error('must have client_email and a private_key in PEM format');
  const keyId = typeof private_key_id === 'string' ? private_key_id : undefined;
  const tokenUrl = typeof token_uri === 'string' ? parseTokenUrl(token_uri) : TOKEN_URL;
  return { clientEmail: client_email, privateKey: private_key, keyId, tokenUrl };
}

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

function parseTokenUrl(text: string): string {
  try {
    return parseBaseUrl(text);
  } catch {
    throw new Error('has a token_uri that is not a URL');
  }
}

/** The base URLs of the optional providers. Undefined where the settings do not tell the host. */
export function optionalProviderUrls({
  bedrockRegion,
  bedrockBaseUrl = bedrockRegion && `https://bedrock-runtime.${bedrockRegion}.${awsDomain(bedrockRegion)}`,
  azureResourceName,
  azureBaseUrl = azureResourceName && `https://${azureResourceName}.openai.azure.com/openai`,
  vertexLocation = 'global',
  vertexBaseUrl = `https://${vertexHost(vertexLocation)}`,
  geminiBaseUrl = GEMINI_URL,
}: OptionalProviderSettings) {
  return { bedrock: bedrockBaseUrl, azure: azureBaseUrl, vertex: vertexBaseUrl, gemini: geminiBaseUrl };
}

function awsDomain(region: string): string {
  if (region.startsWith('cn-')) return 'amazonaws.com.cn';
  return region.startsWith('eusc-') ? 'amazonaws.eu' : 'amazonaws.com';
}

function vertexHost(location: string): string {
  if (location === 'global') return 'aiplatform.googleapis.com';
  return location === 'eu' || location === 'us'
    ? `aiplatform.${location}.rep.googleapis.com`
    : `${location}-aiplatform.googleapis.com`;
}

/** The credentials of the optional providers; undefined where they are not configured. */
export function optionalProviderKeys(settings: OptionalProviderSettings): Record<string, unknown> {
  const { bedrockAccessKeyId, bedrockSecretAccessKey } = settings;
  return {
    bedrock: settings.bedrockApiKey ?? (bedrockAccessKeyId && bedrockSecretAccessKey),
    vertex: settings.vertexCredentials ?? settings.vertexApiKey,
    azure: settings.azureApiKey,
    gemini: settings.geminiApiKey,
  };
}

/** Reports credentials without the settings that they need. */
export function incompleteProviders(settings: OptionalProviderSettings): SettingProblem[] {
  const { bedrockAccessKeyId, bedrockSecretAccessKey, bedrockSessionToken, bedrockRegion } = settings;
  const { bedrock, azure } = optionalProviderUrls(settings);
  const keys = optionalProviderKeys(settings);
  const problems: SettingProblem[] = [];
  const need = (value: unknown, variable: string, present: string, expected: string) => {
    if (value === undefined)
      problems.push({
        variable,
        problem: `is not set, and ${present} is`,
        expected,
        fix: `set ${variable}, or unset ${present}`,
      });
  };
  if (bedrockAccessKeyId !== undefined)
    need(
      bedrockSecretAccessKey,
      'SERVICE_BEDROCK_SECRET_ACCESS_KEY',
      'SERVICE_BEDROCK_ACCESS_KEY_ID',
      'the secret of the access key',
    );
  for (const [value, present] of [
    [bedrockSecretAccessKey, 'SERVICE_BEDROCK_SECRET_ACCESS_KEY'],
    [bedrockSessionToken, 'SERVICE_BEDROCK_SESSION_TOKEN'],
  ] as const)
    if (value !== undefined)
      need(bedrockAccessKeyId, 'SERVICE_BEDROCK_ACCESS_KEY_ID', present, 'the ID of the access key');
  if (settings.bedrockApiKey !== undefined)
    need(bedrock, 'SERVICE_BEDROCK_REGION', 'SERVICE_BEDROCK_API_KEY', 'an AWS region');
  else if (keys.bedrock !== undefined)
    need(bedrockRegion, 'SERVICE_BEDROCK_REGION', 'SERVICE_BEDROCK_ACCESS_KEY_ID', 'an AWS region');
  if (keys.azure !== undefined)
    need(
      azure,
      'SERVICE_AZURE_RESOURCE_NAME',
      'SERVICE_AZURE_API_KEY',
      'the name of an Azure OpenAI resource',
    );
  if (settings.vertexCredentials !== undefined)
    need(
      settings.vertexProject,
      'SERVICE_VERTEX_PROJECT',
      'SERVICE_VERTEX_CREDENTIALS',
      'the ID of a project',
    );
  return problems;
}
