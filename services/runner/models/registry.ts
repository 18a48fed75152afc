import type { JSONObject, LanguageModelV4 } from '@ai-sdk/provider';
import type { Clock } from '../../../lib/clock.ts';
import { createLazyModel } from './lazy-model.ts';
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
}

/** Returns the model with a name; undefined for an unknown name. */
export type Models = (name: string) => Model | undefined;

/** More than the longest message has words: rehearsal/echo repeats every message in full. */
const UNLIMITED = 2 ** 31 - 1;

/** Creates the models of this runner. Their names are `<provider>/<model id>`. */
export function createModels(clock: Clock, settings: ProviderSettings = {}): Models {
  const rehearsal = (languageModel: LanguageModelV4): [string, Model] => [
    `rehearsal/${languageModel.modelId}`,
    {
      provider: 'rehearsal',
      languageModel,
      maxOutputTokens: UNLIMITED,
      outputMode: 'native',
      defaults: {},
      server: undefined,
      parts: REHEARSAL_PARTS,
    },
  ];
  const models = new Map([rehearsal(createEcho()), rehearsal(createScript(clock)), rehearsal(createShell())]);
  const providers = createProviders(settings);

  function remoteModel(name: string): Model | undefined {
    const slash = name.indexOf('/');
    const provider = name.slice(0, slash);
    const found = slash > 0 ? providers.get(provider) : undefined;
    if (!found) return undefined;
    const { load, rejectsText, maxOutputTokens, outputMode, defaults, server, parts } = found;
    const modelId = name.slice(slash + 1);
    const languageModel = createLazyModel({ provider, modelId, load, rejectsText });
    return { provider, languageModel, maxOutputTokens, outputMode, defaults, server, parts };
  }

  return (name) => models.get(name) ?? remoteModel(name);
}
