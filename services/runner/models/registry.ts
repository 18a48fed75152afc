import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Clock } from '../../../lib/clock.ts';
import type { ModelEntry } from '../../../lib/models/entry.ts';
import { createModelTable } from '../../../lib/models/table.ts';
import type { Secret } from '../../../lib/secret.ts';
import { createLazyModel, type ModelLoader } from './lazy-model.ts';
import { PROVIDER_PACKAGES } from './packages.ts';
import { REHEARSAL_PARTS } from './part-support.ts';
import type { ModelServer, ModelTraits } from './provider.ts';
import type { ProviderSettings } from './provider-settings.ts';
import { createProviders } from './providers.ts';
import { createEcho } from './rehearsal/echo.ts';
import { createScript } from './rehearsal/script.ts';
import { createShell } from './rehearsal/shell.ts';

export interface Model extends ModelTraits {
  /** The first part of its name. */
  provider: string;
  /** The name of the provider in spans and metrics. */
  telemetryName: string;
  languageModel: LanguageModelV4;
  /** Its declared limits and capabilities; undefined for a model that the table does not have. */
  entry: ModelEntry | undefined;
  /** The server that answers; undefined for a model in this process, and for a provider without an address. */
  server: ModelServer | undefined;
  /** Returns the model with this API key in place of the operator's. Undefined for a model in this process. */
  withKey: ((key: Secret) => LanguageModelV4) | undefined;
}

/** Returns the model with a name; undefined for an unknown name. */
export type Models = (name: string) => Model | undefined;

/** More than the longest message has words: rehearsal/echo repeats every message in full. */
const UNLIMITED = 2 ** 31 - 1;

/** Creates the models of this runner. Their names are `<provider>/<model id>`. */
export function createModels(
  clock: Clock,
  settings: ProviderSettings = {},
  table = createModelTable(),
  packages = PROVIDER_PACKAGES,
): Models {
  const rehearsal = (languageModel: LanguageModelV4): [string, Model] => [
    `rehearsal/${languageModel.modelId}`,
    {
      provider: 'rehearsal',
      telemetryName: 'rehearsal',
      optionsName: 'rehearsal',
      languageModel,
      entry: table.find(`rehearsal/${languageModel.modelId}`),
      maxOutputTokens: UNLIMITED,
      outputMode: 'native',
      defaults: {},
      server: undefined,
      parts: REHEARSAL_PARTS,
      caching: undefined,
      withKey: undefined,
    },
  ];
  const models = new Map([rehearsal(createEcho()), rehearsal(createScript(clock)), rehearsal(createShell())]);
  const providers = createProviders(settings, clock, packages);

  function remoteModel(name: string): Model | undefined {
    const slash = name.indexOf('/');
    const provider = name.slice(0, slash);
    const found = slash > 0 ? providers.get(provider) : undefined;
    if (!found) return undefined;
    const { load, loaderWith, rejectsText, traitsOf, ...members } = found;
    const modelId = name.slice(slash + 1);
    const traits = traitsOf(modelId);
    const create = (loader: ModelLoader) => createLazyModel({ provider, modelId, load: loader, rejectsText });
    const entry = table.find(name);
    return {
      ...members,
      ...traits,
      provider,
      languageModel: create(load),
      entry,
      maxOutputTokens: Math.min(traits.maxOutputTokens, entry?.maxOutput ?? UNLIMITED),
      withKey: (key) => create(loaderWith(key.reveal())),
    };
  }

  return (name) => models.get(name) ?? remoteModel(name);
}
