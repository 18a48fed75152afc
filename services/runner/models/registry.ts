import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Clock } from '../../../lib/clock.ts';
import { createEcho } from './rehearsal/echo.ts';
import { createScript } from './rehearsal/script.ts';

export interface Model {
  /** The name under which it takes its options. */
  provider: string;
  languageModel: LanguageModelV4;
  /** What one step may produce when the agent's budget does not say. */
  maxOutputTokens: number;
}

/** Undefined for a name that this runner has no model for. */
export type Models = (name: string) => Model | undefined;

/** More than the longest message has words: what an echo is asked for, it returns in full. */
const UNLIMITED = 2 ** 31 - 1;

/** All models of this runner, by `<provider>/<model id>`. */
export function createModels(clock: Clock): Models {
  const rehearsal = (languageModel: LanguageModelV4): [string, Model] => [
    `rehearsal/${languageModel.modelId}`,
    { provider: 'rehearsal', languageModel, maxOutputTokens: UNLIMITED },
  ];
  const models = new Map([rehearsal(createEcho()), rehearsal(createScript(clock))]);
  return (name) => models.get(name);
}
