import type { JSONObject, LanguageModelV4 } from '@ai-sdk/provider';
import type { Clock } from '../../../lib/clock.ts';
import type { ModelEntry } from '../../../lib/models/entry.ts';
import { createModelTable } from '../../../lib/models/table.ts';
import type { Secret } from '../../../lib/secret.ts';
import type { PromptCaching } from './cache-breakpoints.ts';
import { createLazyModel, type ModelLoader } from './lazy-model.ts';
import { type PartSupport, REHEARSAL_PARTS } from './part-support.ts';
import type { ProviderSettings } from './provider-settings.ts';
import { createProviders, type ModelServer, type OutputMode } from './providers.ts';
import { createEcho } from './rehearsal/echo.ts';
import { createScript } from './rehearsal/script.ts';
import { createShell } from './rehearsal/shell.ts';

export interface Model {
  /** The name of the provider, under which the model gets its provider options. */
  provider: string;
  languageModel: LanguageModelV4;
  /** Its declared limits and capabilities; undefined for a model that the table does not have. */
  entry: ModelEntry | undefined;
  /** Limit of output tokens of a step when neither the agent's options nor its budget set one. */
  maxOutputTokens: number;
  /** How the model gets an output schema: as parameter of the request, or as a part of the system prompt. */
  outputMode: OutputMode;
  /** Provider options that apply unless the agent overrides them. */
  defaults: JSONObject;
  /** The server that answers; undefined for a model in this process. */
  server: ModelServer | undefined;
  /** The image and file parts that its protocol can carry. */
  parts: PartSupport;
  /** How its provider learns what it can cache; undefined for a provider that caches by itself, or not. */
  caching: PromptCaching | undefined;
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
): Models {
  const rehearsal = (languageModel: LanguageModelV4): [string, Model] => [
    `rehearsal/${languageModel.modelId}`,
    {
      provider: 'rehearsal',
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
  const providers = createProviders(settings);

  function remoteModel(name: string): Model | undefined {
    const slash = name.indexOf('/');
    const provider = name.slice(0, slash);
    const found = slash > 0 ? providers.get(provider) : undefined;
    if (!found) return undefined;
    const { load, loaderWith, rejectsText, ...members } = found;
    const modelId = name.slice(slash + 1);
    const create = (loader: ModelLoader) => createLazyModel({ provider, modelId, load: loader, rejectsText });
    const entry = table.find(name);
    return {
      ...members,
      provider,
      languageModel: create(load),
      entry,
      maxOutputTokens: Math.min(members.maxOutputTokens, entry?.maxOutput ?? UNLIMITED),
      withKey: (key) => create(loaderWith(key.reveal())),
    };
  }

  return (name) => models.get(name) ?? remoteModel(name);
}
