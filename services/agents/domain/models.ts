/** Models that this release brings along, by provider. A model is named `<provider>/<model id>`. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  rehearsal: ['echo', 'script', 'shell'],
};

/** Providers who alone know which models they have. */
const PROVIDERS = ['anthropic', 'openai'];

const ID = /^[!-~]{1,200}$/;

/**
 * What is wrong with the name of a model, as a phrase that follows the member's name. `endpoints` are the names of
 * the OpenAI-compatible endpoints that the operator has added.
 */
export function modelProblem(model: string, endpoints: readonly string[]): string | undefined {
  const slash = model.indexOf('/');
  if (slash < 1 || slash === model.length - 1) {
    return 'must be <provider>/<model id>, for example rehearsal/echo';
  }
  const provider = model.slice(0, slash);
  const id = model.slice(slash + 1);
  if (Object.hasOwn(OWN, provider)) return ownProblem(provider, id);
  const others = [...PROVIDERS, ...endpoints];
  if (!others.includes(provider)) {
    return `names a provider that there is not here; there are ${list([...Object.keys(OWN), ...others])}`;
  }
  return ID.test(id) ? undefined : 'must have a model id of at most 200 ASCII characters without blanks';
}

function ownProblem(provider: string, id: string): string | undefined {
  const ids = OWN[provider] ?? [];
  if (ids.includes(id)) return undefined;
  return `names a model that this release does not have; it has ${list(ids.map((one) => `${provider}/${one}`))}`;
}

function list(names: readonly string[]): string {
  return names.join(', ');
}
