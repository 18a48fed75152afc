import { EXTERNAL_PROVIDERS, OPTIONAL_PROVIDERS, optionalProvider } from '../../../lib/model-providers.ts';
import type { ModelEntry } from '../../../lib/models/entry.ts';
import type { Runner } from './runner.ts';

/** A provider of models, as clients choose models of it. */
export interface ListedProvider {
  name: string;
  /** Every runner that reports has an API key for it. */
  keyConfigured: boolean;
  /** Its models can be used without a model key of the agent. */
  available: boolean;
  /** An endpoint that the operator has configured. */
  endpoint: boolean;
  /** Every runner that reports has the package of the provider. True for providers that need no optional package. */
  installed: boolean;
}

type ReportedRunner = Pick<Runner, 'keyProviders' | 'optionalProviders'>;

const REHEARSAL = 'rehearsal';

/** Returns every provider whose models agents can name, and those of `entries`. */
export function listProviders(
  entries: readonly ModelEntry[],
  endpoints: readonly string[],
  runners: readonly ReportedRunner[],
): ListedProvider[] {
  const configured = [REHEARSAL, ...EXTERNAL_PROVIDERS, ...endpoints];
  const names = new Set([...configured, ...entries.map(({ name }) => providerOf(name))]);
  return [...names].map((name) => {
    const everyRunner = (has: (runner: ReportedRunner) => boolean) =>
      runners.length > 0 && runners.every(has);
    const keyConfigured = everyRunner(({ keyProviders }) => keyProviders.includes(name));
    const installed =
      !optionalProvider(name) || everyRunner(({ optionalProviders }) => optionalProviders.includes(name));
    const endpoint = endpoints.includes(name);
    // A server that requires no key can be an endpoint.
    const available = name === REHEARSAL || endpoint || (keyConfigured && installed);
    return { name, keyConfigured, available, endpoint, installed };
  });
}

/**
 * Returns the optional providers whose package a runner lacks. Any runner can claim a turn, so every one needs it. While no
 * runner reports, it is unknown which packages the next one has.
 */
export function missingProviders(runners: readonly Pick<Runner, 'optionalProviders'>[]): string[] {
  return Object.keys(OPTIONAL_PROVIDERS).filter((name) =>
    runners.some(({ optionalProviders }) => !optionalProviders.includes(name)),
  );
}

function providerOf(model: string): string {
  return model.slice(0, model.indexOf('/'));
}
