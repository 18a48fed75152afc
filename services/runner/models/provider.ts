import type { JSONObject, LanguageModelV4 } from '@ai-sdk/provider';
import type { PromptCaching } from './cache-breakpoints.ts';
import type { ModelLoader } from './lazy-model.ts';
import type { PartSupport } from './part-support.ts';

/** The server of a provider. */
export interface ModelServer {
  address: string;
  port: number;
  /** Whether requests carry the trace context, so that the server can continue the trace. */
  getsTraceContext: boolean;
}

export type OutputMode = 'native' | 'instruction';

/** What requests to a model can have. */
export interface ModelTraits {
  /** The name under which the package of the provider gets its options. */
  optionsName: string;
  /** Limit of output tokens of a step when neither the agent's options nor its budget set one. */
  maxOutputTokens: number;
  outputMode: OutputMode;
  /** Provider options that apply unless the agent overrides them. */
  defaults: JSONObject;
  parts: PartSupport;
  /** Undefined for a provider that caches by itself, or not. */
  caching: PromptCaching | undefined;
}

export interface ModelProvider {
  /** Undefined while the settings do not tell the host: requests then fail. */
  server: ModelServer | undefined;
  /** Its name in the conventions of OpenTelemetry for generative AI. */
  telemetryName: string;
  load: ModelLoader;
  /** Returns a loader of models that use this API key in place of the operator's. */
  loaderWith(apiKey: string): ModelLoader;
  /** Whether the provider rejects a user message with this text. */
  rejectsText(text: string): boolean;
  /** The traits of the model with this id. */
  traitsOf(modelId: string): ModelTraits;
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

/** The operator has not configured something else that requests to a provider need. */
export class IncompleteProvider extends Error {
  override readonly name = 'IncompleteProvider';
}

export const isEmpty = (text: string) => text === '';
/** Text must have at least one non-whitespace character. */
export const isBlank = (text: string) => text.trim() === '';

/** Returns the operator's API key. Throws MissingApiKey when it is not configured. */
export function required(provider: string, apiKey: string | undefined): () => string {
  return () => {
    if (apiKey === undefined) throw new MissingApiKey(provider);
    return apiKey;
  };
}

/** Returns the value of a setting. Throws IncompleteProvider when it is not configured. */
export function configured(value: string | undefined, settings: string): string {
  if (value !== undefined) return value;
  throw new IncompleteProvider(
    `${settings} is not configured. The operator of this service must give it to the runner.`,
  );
}

export type OpenModel = (modelId: string) => LanguageModelV4;

/** Returns the loaders of a provider: `open` gets the operator's credentials, or the API key of an agent. */
export function loaders<Credentials>(
  open: (credentials: Credentials | string) => Promise<OpenModel>,
  ofOperator: () => Credentials | string,
): Pick<ModelProvider, 'load' | 'loaderWith'> {
  return {
    load: loadOnce(async () => open(ofOperator())),
    loaderWith: (apiKey) => loadOnce(() => open(apiKey)),
  };
}

export function serverOf(provider: string, url: string, traced: readonly string[] = []): ModelServer {
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
