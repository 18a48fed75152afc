import type { JSONObject } from '@ai-sdk/provider';
import type { Budget } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { parseModelOptions } from '../models/model-options.ts';
import { restrictToolbox, type Toolbox } from '../tools/toolbox.ts';
import type { TurnRuntime } from './agent-runtime.ts';
import { parseOutputSchema } from './structured-output.ts';

/** The overrides in force, as the agents service has checked them. */
interface Overrides {
  model?: string;
  system?: { mode: 'append' | 'replace'; text: string };
  tools?: { name: string; permission: string }[];
  client_tools?: { name: string; description: string; input_schema: object }[];
  model_options?: JSONObject;
  max_steps?: number;
  budget?: { max_tokens?: number; max_turn_seconds?: number };
  output_schema?: object | boolean;
}

/**
 * Returns the settings of a turn with its overrides. Tools and budget stay within those of the agent, also if the settings
 * of an assistant have changed since the overrides were checked.
 */
export function applyOverrides(runtime: TurnRuntime, overridesJson: string): TurnRuntime {
  const overrides: Overrides = JSON.parse(overridesJson);
  const { model, system, model_options, max_steps, budget, output_schema } = overrides;
  return {
    ...runtime,
    // An override replaces the list of the agent.
    ...(model !== undefined && { model, models: undefined }),
    ...(system && { system: overrideSystem(runtime.system, system) }),
    toolbox: overrideToolbox(runtime, overrides),
    ...(model_options && { options: parseModelOptions(model_options) }),
    ...(max_steps !== undefined && { maxSteps: max_steps }),
    ...(budget && { budget: lowerBudget(runtime.budget, budget) }),
    ...(output_schema !== undefined && { outputSchema: parseOutputSchema(JSON.stringify(output_schema)) }),
  };
}

function overrideSystem(system: string, { mode, text }: NonNullable<Overrides['system']>): string {
  return mode === 'replace' || system === '' ? text : `${system}\n\n${text}`;
}

function overrideToolbox(runtime: TurnRuntime, { tools, client_tools: clientTools }: Overrides): Toolbox {
  const toolbox = clientTools
    ? runtime.toolboxWith({
        clientTools: clientTools.map(({ name, description, input_schema: inputSchema }) => ({
          name,
          description,
          inputSchemaJson: JSON.stringify(inputSchema),
        })),
      })
    : runtime.toolbox;
  return tools ? restrictToolbox(toolbox, tools) : toolbox;
}

function lowerBudget(agent: Budget | undefined, budget: NonNullable<Overrides['budget']>): Budget {
  return {
    maxTokens: lower(agent?.maxTokens, budget.max_tokens),
    maxTurnSeconds: lower(agent?.maxTurnSeconds, budget.max_turn_seconds),
  };
}

function lower(one: number | undefined, other: number | undefined): number | undefined {
  const limit = Math.min(one ?? Number.POSITIVE_INFINITY, other ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(limit) ? limit : undefined;
}
