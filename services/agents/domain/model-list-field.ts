import { type FieldProblems, pointerSegment } from '../../../lib/field-problems.ts';
import { type ModelProviders, modelProblem } from './models.ts';

/** The models of a version in the order in which they are tried. Empty: only its model. */
export interface ModelNames {
  names: string[];
}

export const MAX_MODELS = 10;

interface ModelFields {
  model?: string | undefined;
  models?: ModelNames | undefined;
}

/** Returns the model of a request, which can name it as the first entry of `models`. */
export function modelOf({ model, models }: ModelFields): string | undefined {
  return model === undefined || model === '' ? (models?.names[0] ?? model) : model;
}

/** Returns the list as it is stored: a list of one model is empty. */
export function normalizeModels({ names }: ModelNames): ModelNames {
  return { names: names.length > 1 ? names : [] };
}

/** Returns the list after a change of the model alone: the other models stay. */
export function withFirstModel(model: string, { names }: ModelNames): ModelNames {
  if (names.length === 0) return { names };
  return normalizeModels({ names: [model, ...names.slice(1).filter((name) => name !== model)] });
}

/** Reports unknown and repeated models, and a first one that is not the model. */
export function checkModels({ names }: ModelNames, problems: FieldProblems, providers: ModelProviders): void {
  if (names.length > MAX_MODELS) problems.add('/models', `must have at most ${MAX_MODELS} models`);
  for (const [index, name] of names.slice(0, MAX_MODELS).entries()) {
    const pointer = `/models${pointerSegment(index)}`;
    const problem = modelProblem(name, providers);
    if (problem) problems.add(pointer, problem);
    if (names.indexOf(name) < index) problems.add(pointer, 'must not repeat an earlier model');
  }
}

/** Reports a model that is not the first of the models. */
export function checkFirstModel({ model, models }: ModelFields, problems: FieldProblems): void {
  const first = models?.names[0];
  if (model !== undefined && first !== undefined && model !== first)
    problems.add('/model', 'must be the first of models');
}
