import type { Clock } from '../../../lib/clock.ts';
import { createFetch } from './fetch.ts';
import { optionalProviderUrls } from './optional-provider-settings.ts';
import { importPackage, type ProviderPackages } from './packages.ts';
import { ANTHROPIC_PARTS, BEDROCK_PARTS, GEMINI_PARTS, OPENAI_PARTS } from './part-support.ts';
import {
  configured,
  isBlank,
  isEmpty,
  loaders,
  MissingApiKey,
  type ModelProvider,
  type ModelTraits,
  required,
  serverOf,
} from './provider.ts';
import type { ProviderSettings } from './provider-settings.ts';
import { createVertexOpener, isClaudeOfVertex, type VertexCredentials } from './vertex.ts';

/** Enough for a long answer with thinking. */
const LONG_ANSWER_TOKENS = 32_000;
const AZURE_TOKENS = 16_384;
/** Models of Bedrock reject a limit above their own, which is small for many. */
const BEDROCK_TOKENS = 4_096;

/** Returns the providers whose packages an operator installs, by name. Their packages are imported at the first use. */
export function createOptionalProviders(
  settings: ProviderSettings,
  clock: Clock,
  packages: ProviderPackages,
): Record<string, ModelProvider> {
  return {
    bedrock: bedrock(settings, packages),
    vertex: vertex(settings, clock, packages),
    azure: azure(settings, packages),
    gemini: gemini(settings, packages),
  };
}

/** An access key of AWS, with which requests are signed. */
interface AccessKey {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | undefined;
}

/** Claude on Bedrock. Its names can begin with a group of regions, for example `eu.anthropic.claude-…`. */
const BEDROCK_CLAUDE = /(^|\.)anthropic\.claude-/;

function bedrock(settings: ProviderSettings, packages: ProviderPackages): ModelProvider {
  const { bedrockApiKey, bedrockAccessKeyId, bedrockSecretAccessKey, bedrockSessionToken } = settings;
  const { bedrock: url } = optionalProviderUrls(settings);
  const open = async (credentials: AccessKey | string) => {
    const baseURL = configured(url, 'SERVICE_BEDROCK_REGION');
    const { createAmazonBedrock } = await importPackage('bedrock', packages.bedrock);
    const isApiKey = typeof credentials === 'string';
    const secrets = isApiKey
      ? [credentials]
      : [credentials.secretAccessKey, credentials.sessionToken ?? [], credentials.accessKeyId].flat();
    const provider = createAmazonBedrock({
      // An empty key keeps the package from reading one from the environment of the process.
      ...(isApiKey ? { apiKey: credentials } : { ...credentials, apiKey: '' }),
      region: settings.bedrockRegion ?? '',
      baseURL,
      fetch: createFetch(baseURL, secrets),
    });
    return (modelId: string) => provider.languageModel(modelId);
  };
  const ofOperator = (): AccessKey | string => {
    if (bedrockApiKey !== undefined) return bedrockApiKey;
    if (bedrockAccessKeyId === undefined || bedrockSecretAccessKey === undefined)
      throw new MissingApiKey('bedrock');
    const [accessKeyId, secretAccessKey] = [bedrockAccessKeyId, bedrockSecretAccessKey];
    return { accessKeyId, secretAccessKey, sessionToken: bedrockSessionToken };
  };
  const traits: ModelTraits = {
    optionsName: 'amazonBedrock',
    maxOutputTokens: BEDROCK_TOKENS,
    outputMode: 'native',
    defaults: {},
    parts: BEDROCK_PARTS,
    caching: undefined,
  };
  const claude: ModelTraits = {
    ...traits,
    maxOutputTokens: LONG_ANSWER_TOKENS,
    caching: 'bedrock_breakpoints',
  };
  return {
    server: url === undefined ? undefined : serverOf('bedrock', url, settings.modelTraceContext),
    telemetryName: 'aws.bedrock',
    ...loaders<AccessKey>(open, ofOperator),
    rejectsText: isBlank,
    traitsOf: (modelId) => (BEDROCK_CLAUDE.test(modelId) ? claude : traits),
  };
}

function vertex(settings: ProviderSettings, clock: Clock, packages: ProviderPackages): ModelProvider {
  const { vertexCredentials, vertexApiKey } = settings;
  const ofOperator = (): VertexCredentials => {
    const credentials = vertexCredentials ?? vertexApiKey;
    if (credentials === undefined) throw new MissingApiKey('vertex');
    return credentials;
  };
  const traits: ModelTraits = {
    optionsName: 'googleVertex',
    maxOutputTokens: LONG_ANSWER_TOKENS,
    outputMode: 'native',
    defaults: {},
    parts: GEMINI_PARTS,
    caching: undefined,
  };
  const claude: ModelTraits = {
    ...traits,
    optionsName: 'anthropic',
    parts: ANTHROPIC_PARTS,
    caching: 'breakpoints',
  };
  return {
    server: serverOf('vertex', optionalProviderUrls(settings).vertex, settings.modelTraceContext),
    telemetryName: 'gcp.vertex_ai',
    ...loaders(createVertexOpener(settings, clock, packages), ofOperator),
    rejectsText: isBlank,
    traitsOf: (modelId) => (isClaudeOfVertex(modelId) ? claude : traits),
  };
}

/** The models of OpenAI, with the same API and options. The id of a model is the name of its deployment. */
function azure(settings: ProviderSettings, packages: ProviderPackages): ModelProvider {
  const { azureBaseUrl, azureResourceName, azureApiVersion: apiVersion = 'v1' } = settings;
  const { azure: url } = optionalProviderUrls(settings);
  const open = async (apiKey: string) => {
    const server = configured(url, 'SERVICE_AZURE_RESOURCE_NAME');
    const { createAzure } = await importPackage('azure', packages.azure);
    const place =
      azureBaseUrl === undefined ? { resourceName: azureResourceName } : { baseURL: azureBaseUrl };
    const provider = createAzure({ ...place, apiKey, apiVersion, fetch: createFetch(server, [apiKey]) });
    return (modelId: string) => provider.responses(modelId);
  };
  const traits: ModelTraits = {
    optionsName: 'azure',
    maxOutputTokens: AZURE_TOKENS,
    outputMode: 'native',
    // As for OpenAI.
    defaults: { store: false, strictJsonSchema: false },
    parts: OPENAI_PARTS,
    caching: 'session_key',
  };
  return {
    server: url === undefined ? undefined : serverOf('azure', url, settings.modelTraceContext),
    telemetryName: 'azure.ai.openai',
    ...loaders(open, required('azure', settings.azureApiKey)),
    rejectsText: isEmpty,
    traitsOf: () => traits,
  };
}

function gemini(settings: ProviderSettings, packages: ProviderPackages): ModelProvider {
  const { gemini: baseURL } = optionalProviderUrls(settings);
  const open = async (apiKey: string) => {
    const { createGoogle } = await importPackage('gemini', packages.gemini);
    const provider = createGoogle({ apiKey, baseURL, fetch: createFetch(baseURL, [apiKey]) });
    return (modelId: string) => provider.languageModel(modelId);
  };
  const traits: ModelTraits = {
    optionsName: 'google',
    maxOutputTokens: LONG_ANSWER_TOKENS,
    outputMode: 'native',
    defaults: {},
    parts: GEMINI_PARTS,
    caching: undefined,
  };
  return {
    server: serverOf('gemini', baseURL, settings.modelTraceContext),
    telemetryName: 'gcp.gemini',
    ...loaders(open, required('gemini', settings.geminiApiKey)),
    rejectsText: isEmpty,
    traitsOf: () => traits,
  };
}
