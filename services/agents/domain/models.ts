import {
  EXTERNAL_PROVIDERS,
  installation,
  OPTIONAL_PROVIDERS,
  optionalProvider,
} from '../../../lib/model-providers.ts';

/** Built-in models by provider. A model is named `<provider>/<model id>`. */
const BUILT_IN_MODELS: Readonly<Record<string, readonly string[]>> = {
  rehearsal: ['echo', 'script', 'shell'],
};

const ID = /^[!-~]{1,200}$/;

/** The providers whose models agents can name, beside those of this release. */
export interface ModelProviders {
  /** Names of the OpenAI-compatible endpoints that the operator has added. */
  endpoints: readonly string[];
  /** The optional providers whose package a runner lacks. */
  missingProviders: readonly string[];
}

/** Returns the problem with the name of a model, as a phrase that follows the field's name, or undefined. */
export function modelProblem(
  model: string,
  { endpoints, missingProviders }: ModelProviders,
): string | undefined {
  const slash = model.indexOf('/');
  if (slash < 1 || slash === model.length - 1) {
    return 'must be <provider>/<model id>, for example rehearsal/echo';
  }
  const provider = model.slice(0, slash);
  const id = model.slice(slash + 1);
  if (Object.hasOwn(BUILT_IN_MODELS, provider)) return builtInProblem(provider, id);
  const others = [...EXTERNAL_PROVIDERS, ...endpoints];
  if (!others.includes(provider)) {
    return `must name a configured provider: ${list([...Object.keys(BUILT_IN_MODELS), ...others])}`;
  }
  if (!ID.test(id)) return 'must have a model id of at most 200 ASCII characters without blanks';
  const optional = missingProviders.includes(provider) ? optionalProvider(provider) : undefined;
  return (
    optional &&
    `names a model of ${provider}, whose package ${optional.package} is not installed: ${installation(optional)}`
  );
}

/** Whether a text, such as the name of a model or JSON with names, can name a model of an optional provider. */
export function namesOptionalProvider(text: string): boolean {
  return OPTIONAL_NAME.test(text);
}

const OPTIONAL_NAME = new RegExp(`(^|")(${Object.keys(OPTIONAL_PROVIDERS).join('|')})/`);

function builtInProblem(provider: string, id: string): string | undefined {
  const ids = BUILT_IN_MODELS[provider] ?? [];
  if (ids.includes(id)) return undefined;
  return `must name a model of this release: ${list(ids.map((model) => `${provider}/${model}`))}`;
}

function list(names: readonly string[]): string {
  return names.join(', ');
}
