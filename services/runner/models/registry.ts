import type { JSONObject, LanguageModelV4 } from '@ai-sdk/provider';
import type { Clock } from '../../../lib/clock.ts';
import type { ProviderSettings } from '../config.ts';
import { createProviders } from './providers.ts';
import { createEcho } from './rehearsal/echo.ts';
import { createScript } from './rehearsal/script.ts';
import { createShell } from './rehearsal/shell.ts';
import { createRemote } from './remote.ts';

export interface Model {
  /** The name under which it takes its options. */
  provider: string;
  languageModel: LanguageModelV4;
  /** What one step may produce when neither the agent's options nor its budget say. */
  maxOutputTokens: number;
  /** Options of the provider that hold unless the agent has its own. */
  defaults: JSONObject;
}

/** Undefined for a name that this runner has no model for. */
export type Models = (name: string) => Model | undefined;

/** More than the longest message has words: what an echo is asked for, it returns in full. */
const UNLIMITED = 2 ** 31 - 1;

/** All models of this runner, by `<provider>/<model id>`. */
export function createModels(clock: Clock, settings: ProviderSettings = {}): Models {
  const rehearsal = (languageModel: LanguageModelV4): [string, Model] => [
    `rehearsal/${languageModel.modelId}`,
    { provider: 'rehearsal', languageModel, maxOutputTokens: UNLIMITED, defaults: {} },
  ];
  const models = new Map([rehearsal(createEcho()), rehearsal(createScript(clock)), rehearsal(createShell())]);
  const providers = createProviders(settings);

  function remote(name: string): Model | undefined {
    const slash = name.indexOf('/');
    const provider = name.slice(0, slash);
    const found = slash > 0 ? providers.get(provider) : undefined;
    if (!found) return undefined;
    const { load, ...rest } = found;
    return { provider, languageModel: createRemote(provider, name.slice(slash + 1), load), ...rest };
  }

  return (name) => models.get(name) ?? remote(name);
}
