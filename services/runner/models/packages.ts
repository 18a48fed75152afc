import { findPackageJSON } from 'node:module';
import { OPTIONAL_PROVIDERS, optionalProvider } from '../../../lib/model-providers.ts';

/** Imports the packages of the optional providers at their first use. */
export const PROVIDER_PACKAGES = {
  bedrock: () => import('@ai-sdk/amazon-bedrock'),
  azure: () => import('@ai-sdk/azure'),
  gemini: () => import('@ai-sdk/google'),
  // The variants for Edge runtimes do without the authentication library of Google, which takes long to load.
  vertex: () => import('@ai-sdk/google-vertex/edge'),
  vertexClaude: () => import('@ai-sdk/google-vertex/anthropic/edge'),
};

export type ProviderPackages = typeof PROVIDER_PACKAGES;

/** The package of an optional provider is not installed. */
export class MissingPackage extends Error {
  override readonly name = 'MissingPackage';
  readonly provider: string;

  constructor(provider: string) {
    super(`The package ${optionalProvider(provider)?.package} of ${provider} is not installed.`);
    this.provider = provider;
  }
}

/** Imports a package. Rejects with MissingPackage when it, or a package that it requires, is not installed. */
export async function importPackage<Module>(provider: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')
      throw new MissingPackage(provider);
    throw error;
  }
}

/** Returns the optional providers whose package is installed. Loads none. */
export function installedProviders(): string[] {
  return Object.entries(OPTIONAL_PROVIDERS).flatMap(([name, one]) =>
    isInstalled(one.package) ? [name] : [],
  );
}

function isInstalled(name: string): boolean {
  try {
    return findPackageJSON(name, import.meta.url) !== undefined;
  } catch {
    return false;
  }
}
