import { EXTERNAL_PROVIDERS } from '../../../lib/model-providers.ts';
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
}

const REHEARSAL = 'rehearsal';

/** Returns every provider whose models agents can name, and those of `entries`. */
export function listProviders(
  entries: readonly ModelEntry[],
  endpoints: readonly string[],
  runners: readonly Pick<Runner, 'keyProviders'>[],
): ListedProvider[] {
  const configured = [REHEARSAL, ...EXTERNAL_PROVIDERS, ...endpoints];
  const names = new Set([...configured, ...entries.map(({ name }) => providerOf(name))]);
  return [...names].map((name) => {
    const keyConfigured =
      runners.length > 0 && runners.every(({ keyProviders }) => keyProviders.includes(name));
    const endpoint = endpoints.includes(name);
    // A server that requires no key can be an endpoint.
    return { name, keyConfigured, available: name === REHEARSAL || endpoint || keyConfigured, endpoint };
  });
}

function providerOf(model: string): string {
  return model.slice(0, model.indexOf('/'));
}
