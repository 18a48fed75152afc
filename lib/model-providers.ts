/** A provider whose package is not a part of an installation: an operator installs it. */
export interface OptionalProvider {
  /** The npm package that speaks its protocol. */
  package: string;
  /** The version that this release is tested with, as in package.json. */
  version: string;
}

/** Providers outside this service whose packages an operator installs, by the first part of the names of their models. */
export const OPTIONAL_PROVIDERS: Readonly<Record<string, OptionalProvider>> = {
  bedrock: { package: '@ai-sdk/amazon-bedrock', version: '5.0.101' },
  vertex: { package: '@ai-sdk/google-vertex', version: '5.0.141' },
  azure: { package: '@ai-sdk/azure', version: '4.0.85' },
  gemini: { package: '@ai-sdk/google', version: '4.0.121' },
};

/** Providers outside this service. Their model ids are not checked here. */
export const EXTERNAL_PROVIDERS = ['anthropic', 'openai', ...Object.keys(OPTIONAL_PROVIDERS)];

/** Returns the optional provider with a name; undefined for every other provider. */
export function optionalProvider(name: string): OptionalProvider | undefined {
  return Object.hasOwn(OPTIONAL_PROVIDERS, name) ? OPTIONAL_PROVIDERS[name] : undefined;
}

/**
 * Returns what an operator has to do so that runners can use an optional provider. `--save-prod` is needed because the packages
 * are development packages too, which a production installation omits.
 */
export function installation({ package: name, version }: OptionalProvider): string {
  return `install it for every runner with: npm install --no-save --save-prod --omit=dev ${name}@${version}`;
}
