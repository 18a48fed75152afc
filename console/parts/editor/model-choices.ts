import type { Model } from '../../gen/types.gen.ts';

export interface ModelChoice {
  value: string;
  text: string;
}

const REHEARSAL: Readonly<Record<string, string>> = {
  'rehearsal/echo': 'Repeats the message. Needs no API key.',
  'rehearsal/shell': 'Runs lines that begin with $. Needs no API key.',
  'rehearsal/script': 'Plays the steps in the model options. Needs no API key.',
};

/** The choices while the list of models is not loaded. */
const UNLISTED: readonly ModelChoice[] = [
  ...Object.entries(REHEARSAL).map(([value, text]) => ({ value, text })),
  { value: 'anthropic/', text: 'Append the ID of a Claude model.' },
  { value: 'openai/', text: 'Append the ID of an OpenAI model.' },
];

/** Returns the models to choose from, usable ones first. */
export function modelChoices(models: readonly Model[] | undefined): readonly ModelChoice[] {
  if (!models) return UNLISTED;
  const usable = models.filter(({ available }) => available);
  const others = models.filter(({ available }) => !available);
  return [...usable, ...others].map((model) => ({
    value: model.model_id === null ? `${model.provider}/` : model.name,
    text: REHEARSAL[model.name] ?? describeModel(model),
  }));
}

/** Describes the limits of a model and whether its provider has a key. */
export function describeModel(model: Model): string {
  const { provider, context_window: window, max_output: output, available, installed } = model;
  if (model.model_id === null) return 'Append the ID of a model of this endpoint.';
  const limits = [
    window === null ? undefined : `Context window: ${count(window)} tokens.`,
    output === null ? undefined : `Longest answer: ${count(output)} tokens.`,
    installed ? undefined : `The package of ${provider} is not installed.`,
    available || !installed ? undefined : `No API key of ${provider} is configured.`,
  ];
  return limits.filter((text) => text !== undefined).join(' ');
}

const count = (tokens: number) => tokens.toLocaleString('en-US');
