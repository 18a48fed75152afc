/** The models of this release, by provider. A model is named `<provider>/<model id>`. */
const MODELS: Readonly<Record<string, readonly string[]>> = {
  rehearsal: ['echo', 'script'],
};

/** What is wrong with the name of a model, as a phrase that follows the member's name. */
export function modelProblem(model: string): string | undefined {
  const slash = model.indexOf('/');
  if (slash < 1 || slash === model.length - 1) {
    return 'must be <provider>/<model id>, for example rehearsal/echo';
  }
  const provider = model.slice(0, slash);
  const models = Object.hasOwn(MODELS, provider) ? MODELS[provider] : undefined;
  if (!models) return `names a provider that this release does not have; it has ${list(Object.keys(MODELS))}`;
  if (models.includes(model.slice(slash + 1))) return undefined;
  return `names a model that this release does not have; it has ${list(models.map((id) => `${provider}/${id}`))}`;
}

function list(names: readonly string[]): string {
  return names.join(', ');
}
