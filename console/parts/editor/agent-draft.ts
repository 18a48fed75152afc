import type { Assistant, Budget, ContextSettings, OverridableFields, Tool } from '../../gen/index.ts';
import { type ClientToolDraft, clientToolDrafts, isClientTool, readClientTools } from './client-tools.ts';
import { type ContextDraft, contextDraftOf, EMPTY_CONTEXT_DRAFT, readContextDraft } from './context-draft.ts';
import { readObject, readSchema, readTexts, writeObject } from './json.ts';
import { type FieldProblems, wholeNumber } from './problems.ts';

/** The editable fields of an agent or an assistant. */
export type AgentSettings = Omit<
  Assistant,
  'assistant_id' | 'revision' | 'created_by' | 'created_at' | 'updated_at'
>;

export type ToolPermission = NonNullable<Tool['permission']>;

/** AgentSettings as the values of the form fields. */
export interface AgentDraft extends ContextDraft {
  name: string;
  description: string;
  model: string;
  /** The models behind the first one, one per line. */
  fallbackModels: string;
  modelOptions: string;
  system: string;
  /** Empty for the default environment. */
  environmentId: string;
  /** Tools that are not listed use their default permission. */
  tools: Record<string, ToolPermission>;
  clientTools: readonly ClientToolDraft[];
  maxSteps: string;
  maxTokens: string;
  maxTurnSeconds: string;
  /** JSON text; empty for an answer in text. */
  outputSchema: string;
  overridable: OverridableFields;
  metadata: string;
  enabled: boolean;
}

export const EMPTY_AGENT_DRAFT: AgentDraft = {
  name: '',
  description: '',
  model: '',
  fallbackModels: '',
  modelOptions: '',
  system: '',
  environmentId: '',
  tools: {},
  clientTools: [],
  maxSteps: '32',
  maxTokens: '',
  maxTurnSeconds: '',
  outputSchema: '',
  overridable: [],
  ...EMPTY_CONTEXT_DRAFT,
  metadata: '',
  enabled: true,
};

export function agentDraftOf(from: AgentSettings): AgentDraft {
  return {
    name: from.name,
    description: from.description,
    model: from.model,
    fallbackModels: from.models.slice(1).join('\n'),
    modelOptions: writeObject(from.model_options),
    system: from.system,
    environmentId: from.environment_id ?? '',
    tools: Object.fromEntries(
      from.tools.flatMap((tool) =>
        !isClientTool(tool) && tool.permission ? [[tool.name, tool.permission]] : [],
      ),
    ),
    clientTools: clientToolDrafts(from.tools),
    maxSteps: String(from.max_steps),
    maxTokens: from.budget.max_tokens?.toString() ?? '',
    maxTurnSeconds: from.budget.max_turn_seconds?.toString() ?? '',
    outputSchema: from.output_schema === null ? '' : JSON.stringify(from.output_schema, null, 2),
    overridable: from.overridable,
    ...contextDraftOf(from.context),
    metadata: writeObject(from.metadata),
    enabled: from.enabled,
  };
}

/** Parses a draft. `problems` maps JSON Pointers to validation errors. */
export function readAgentDraft(draft: AgentDraft): { body: AgentSettings; problems: FieldProblems } {
  const clientTools = readClientTools(draft.clientTools);
  const { context, problems: contextProblems } = readContextDraft(draft);
  const problems: FieldProblems = { ...clientTools.problems, ...contextProblems };
  const note = (pointer: string, problem: string | undefined) => {
    if (problem !== undefined) problems[pointer] = problem;
  };
  const options = readObject(draft.modelOptions);
  const outputSchema = readSchema(draft.outputSchema);
  const metadata = readTexts(draft.metadata);
  note('/model_options', options.problem);
  note('/output_schema', outputSchema.problem);
  note('/metadata', metadata.problem);
  if (draft.name.trim() === '') note('/name', 'Enter a name.');
  if (draft.model.trim() === '') note('/model', 'Enter a model, for example rehearsal/echo.');
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
  const body: AgentSettings = {
    name: draft.name.trim(),
    description: draft.description,
    model: draft.model.trim(),
    models: [draft.model, ...draft.fallbackModels.split('\n')].map((name) => name.trim()).filter(Boolean),
    model_options: options.value ?? {},
    system: draft.system,
    environment_id: draft.environmentId.trim() || null,
    tools: [
      ...Object.entries(draft.tools).map(([name, permission]) => ({ name, permission })),
      ...clientTools.tools,
    ],
    max_steps: maxSteps ?? 1,
    budget,
    output_schema: outputSchema.value ?? null,
    overridable: draft.overridable,
    context,
    metadata: metadata.value ?? {},
    enabled: draft.enabled,
  };
  return { body, problems };
}

/** The body of a creation, for which `context` is omitted when all its fields have their default. */
export type NewAgentSettings = Omit<AgentSettings, 'context'> & { context?: ContextSettings };

/** Parses the draft of a new agent or assistant. */
export function readNewAgentDraft(draft: AgentDraft): { body: NewAgentSettings; problems: FieldProblems } {
  const { body, problems } = readAgentDraft(draft);
  const { context, ...others } = body;
  return { body: Object.keys(context).length > 0 ? body : others, problems };
}

const MAX_INT32 = 2 ** 31 - 1;
