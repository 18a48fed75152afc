import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { parseModelOptions } from '../../../services/runner/models/model-options.ts';
import {
  type ContentPart,
  type ModelStepEnd,
  type ModelStepRequest,
  requestModelStep,
} from '../../../services/runner/models/model-step.ts';
import type { ProviderPackages } from '../../../services/runner/models/packages.ts';
import { createModels } from '../../../services/runner/models/registry.ts';
import { createFakeClock } from '../../support/clock.ts';
import { anthropic } from '../../support/providers/anthropic.ts';
import { azure } from '../../support/providers/azure.ts';
import { bedrock } from '../../support/providers/bedrock.ts';
import { compatible } from '../../support/providers/compatible.ts';
import { gemini, vertex, vertexClaude } from '../../support/providers/google.ts';
import { openai } from '../../support/providers/openai.ts';
import type { ProviderProtocol } from '../../support/providers/protocol.ts';
import type { ProviderServer } from '../../support/providers/server.ts';

/** The providers whose packages are always installed. */
export const PROTOCOLS = [anthropic, openai, compatible];
/** The providers of the optional packages. */
export const OPTIONAL_PROTOCOLS = [bedrock, vertex, vertexClaude, azure, gemini];
export const ALL_PROTOCOLS = [...PROTOCOLS, ...OPTIONAL_PROTOCOLS];

export interface StepObservation {
  end: ModelStepEnd;
  texts: string[];
  thoughts: string[];
}

/** Requests one step from the model of a provider protocol at this server. */
export async function requestStep(
  protocol: ProviderProtocol,
  { url }: Pick<ProviderServer, 'url'>,
  request: Partial<ModelStepRequest> & {
    options?: Parameters<typeof parseModelOptions>[0];
    packages?: ProviderPackages;
  } = {},
): Promise<StepObservation> {
  const clock = createFakeClock();
  const { options = {}, packages, ...rest } = request;
  const model = createModels(clock, protocol.settings(url), undefined, packages)(protocol.model);
  if (!model) throw new Error(`unknown model ${protocol.model}`);
  const {
    settings,
    maxOutputTokens = model.maxOutputTokens,
    providerOptions: own,
  } = parseModelOptions(options);
  const streamed = { texts: [] as string[], thoughts: [] as string[] };
  const end = await requestModelStep(
    {
      model: model.languageModel,
      system: 'You are brief.',
      messages: [{ role: 'user', content: 'Where am I?' }],
      tools: [],
      maxOutputTokens,
      settings,
      providerOptions: { [model.optionsName]: { ...model.defaults, ...own } },
      signal: new AbortController().signal,
      now: () => clock.now(),
      ...rest,
    },
    {
      textBegins: () => streamed.texts.push(''),
      text: (piece) => streamed.texts.push((streamed.texts.pop() ?? '') + piece),
      thinking: (thought) => streamed.thoughts.push(thought),
    },
  );
  return { end, ...streamed };
}

export function finished({ end }: StepObservation): Extract<ModelStepEnd, { kind: 'finished' }> {
  if (end.kind !== 'finished') throw new Error(`the step ended as ${end.kind}: ${JSON.stringify(end)}`);
  return end;
}

export function contentOf(step: StepObservation): ContentPart[] {
  return finished(step).content;
}

export const WEATHER: LanguageModelV4FunctionTool = {
  type: 'function',
  name: 'weather',
  description: 'Says how the weather is.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
