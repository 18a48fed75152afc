import type { Assistant, Budget, ClientTool, Tool } from '../../gen/index.ts';
import { readObject, readTexts, writeObject } from './json.ts';
import { type FieldProblems, wholeNumber } from './problems.ts';

/** The editable fields of an agent or an assistant. `output_schema` and `overridable` are set over the API. */
export type AgentSettings = Omit<
  Assistant,
  'assistant_id' | 'revision' | 'created_by' | 'created_at' | 'updated_at' | 'output_schema' | 'overridable'
>;

export type ToolPermission = NonNullable<Tool['permission']>;

/** AgentSettings as the values of the form fields. */
export interface AgentDraft {
  name: string;
  description: string;
  model: string;
  modelOptions: string;
  system: string;
  /** Empty for the default environment. */
  environmentId: string;
  /** Tools that are not listed use their default permission. */
  tools: Record<string, ToolPermission>;
  /** Not editable: kept as they are. */
  clientTools: readonly ClientTool[];
  maxSteps: string;
  maxTokens: string;
  maxTurnSeconds: string;
  metadata: string;
  enabled: boolean;
}

export const EMPTY_AGENT_DRAFT: AgentDraft = {
  name: '',
  description: '',
  model: '',
  modelOptions: '',
  system: '',
  environmentId: '',
  tools: {},
  clientTools: [],
  maxSteps: '32',
  maxTokens: '',
  maxTurnSeconds: '',
  metadata: '',
  enabled: true,
};

export function agentDraftOf(from: AgentSettings): AgentDraft {
  return {
    name: from.name,
    description: from.description,
    model: from.model,
    modelOptions: writeObject(from.model_options),
    system: from.system,
    environmentId: from.environment_id ?? '',
    tools: Object.fromEntries(
      from.tools.flatMap((tool) =>
        !isClientTool(tool) && tool.permission ? [[tool.name, tool.permission]] : [],
      ),
    ),
    clientTools: from.tools.filter(isClientTool),
    maxSteps: String(from.max_steps),
    maxTokens: from.budget.max_tokens?.toString() ?? '',
    maxTurnSeconds: from.budget.max_turn_seconds?.toString() ?? '',
    metadata: writeObject(from.metadata),
    enabled: from.enabled,
  };
}

/** Parses a draft. `problems` maps JSON Pointers to validation errors. */
export function readAgentDraft(draft: AgentDraft): { body: AgentSettings; problems: FieldProblems } {
  const problems: FieldProblems = {};
  const note = (pointer: string, problem: string | undefined) => {
    if (problem !== undefined) problems[pointer] = problem;
  };
  const options = readObject(draft.modelOptions);
  const metadata = readTexts(draft.metadata);
  note('/model_options', options.problem);
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
    model_options: options.value ?? {},
    system: draft.system,
    environment_id: draft.environmentId.trim() || null,
    tools: [
      ...Object.entries(draft.tools).map(([name, permission]) => ({ name, permission })),
      ...draft.clientTools,
    ],
    max_steps: maxSteps ?? 1,
    budget,
    metadata: metadata.value ?? {},
    enabled: draft.enabled,
  };
  return { body, problems };
}

/** Whether the client runs the tool. */
export function isClientTool(tool: Tool | ClientTool): tool is ClientTool {
  return 'type' in tool;
}

const MAX_INT32 = 2 ** 31 - 1;
