import type { Assistant, Budget, Tool } from '../../gen/index.ts';
import { readObject, readTexts, writeObject } from './json.ts';
import { type Problems, wholeNumber } from './problems.ts';

/** What can be said of an agent and of an assistant. */
export type Editable = Omit<Assistant, 'assistant_id' | 'created_by' | 'created_at' | 'updated_at'>;

export type Permission = NonNullable<Tool['permission']>;

/** The same as it stands in the fields of the editor, where everything is a text. */
export interface Draft {
  name: string;
  description: string;
  model: string;
  modelOptions: string;
  system: string;
  /** Empty for the default one. */
  environmentId: string;
  /** What is not in here has the tool's default. */
  tools: Record<string, Permission>;
  maxSteps: string;
  maxTokens: string;
  maxTurnSeconds: string;
  metadata: string;
  enabled: boolean;
}

export const EMPTY: Draft = {
  name: '',
  description: '',
  model: '',
  modelOptions: '',
  system: '',
  environmentId: '',
  tools: {},
  maxSteps: '32',
  maxTokens: '',
  maxTurnSeconds: '',
  metadata: '',
  enabled: true,
};

export function draftOf(from: Editable): Draft {
  return {
    name: from.name,
    description: from.description,
    model: from.model,
    modelOptions: writeObject(from.model_options),
    system: from.system,
    environmentId: from.environment_id ?? '',
    tools: Object.fromEntries(
      from.tools.flatMap(({ name, permission }) => (permission ? [[name, permission]] : [])),
    ),
    maxSteps: String(from.max_steps),
    maxTokens: from.budget.max_tokens?.toString() ?? '',
    maxTurnSeconds: from.budget.max_turn_seconds?.toString() ?? '',
    metadata: writeObject(from.metadata),
    enabled: from.enabled,
  };
}

/** What a draft says, or what is wrong with it by the pointer of the member. */
export function readDraft(draft: Draft): { body: Editable; problems: Problems } {
  const problems: Problems = {};
  const note = (pointer: string, problem: string | undefined) => {
    if (problem !== undefined) problems[pointer] = problem;
  };
  const options = readObject(draft.modelOptions);
  const metadata = readTexts(draft.metadata);
  note('/model_options', options.problem);
  note('/metadata', metadata.problem);
  if (draft.name.trim() === '') note('/name', 'Give it a name.');
  if (draft.model.trim() === '') note('/model', 'Name a model, for example rehearsal/echo.');
  const number = (pointer: string, text: string, range: { max: number; optional?: boolean }) => {
    const { value, problem } = wholeNumber(text, { min: 1, ...range });
    note(pointer, problem);
    return value;
  };
  const maxSteps = number('/max_steps', draft.maxSteps, { max: 1_000 });
  const budget: Budget = {};
  const maxTokens = number('/budget/max_tokens', draft.maxTokens, { max: MAX_INT32, optional: true });
  const maxSeconds = number('/budget/max_turn_seconds', draft.maxTurnSeconds, {
    max: MAX_INT32,
    optional: true,
  });
  if (maxTokens !== undefined) budget.max_tokens = maxTokens;
  if (maxSeconds !== undefined) budget.max_turn_seconds = maxSeconds;
  const body: Editable = {
    name: draft.name.trim(),
    description: draft.description,
    model: draft.model.trim(),
    model_options: options.value ?? {},
    system: draft.system,
    environment_id: draft.environmentId.trim() || null,
    tools: Object.entries(draft.tools).map(([name, permission]) => ({ name, permission })),
    max_steps: maxSteps ?? 1,
    budget,
    metadata: metadata.value ?? {},
    enabled: draft.enabled,
  };
  return { body, problems };
}

const MAX_INT32 = 2 ** 31 - 1;
