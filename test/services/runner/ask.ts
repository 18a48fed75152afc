import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { readOptions } from '../../../services/runner/models/options.ts';
import { createModels } from '../../../services/runner/models/registry.ts';
import {
  modelStep,
  type StepContent,
  type StepEnd,
  type StepRequest,
} from '../../../services/runner/models/step.ts';
import { createFakeClock } from '../../support/clock.ts';
import { anthropic } from '../../support/providers/anthropic.ts';
import { compatible } from '../../support/providers/compatible.ts';
import { openai } from '../../support/providers/openai.ts';
import type { ProviderServer } from '../../support/providers/server.ts';
import type { Wire } from '../../support/providers/wire.ts';

export const WIRES = [anthropic, openai, compatible];

export interface Heard {
  end: StepEnd;
  texts: string[];
  thoughts: string[];
}

/** One step of the wire's model, which is at this server. */
export async function ask(
  wire: Wire,
  { url }: Pick<ProviderServer, 'url'>,
  request: Partial<StepRequest> & { options?: Parameters<typeof readOptions>[0] } = {},
): Promise<Heard> {
  const clock = createFakeClock();
  const model = createModels(clock, wire.settings(url))(wire.model);
  if (!model) throw new Error(`no model ${wire.model}`);
  const { options = {}, ...rest } = request;
  const { settings, maxOutputTokens = model.maxOutputTokens, own } = readOptions(options);
  const heard = { texts: [] as string[], thoughts: [] as string[] };
  const end = await modelStep(
    {
      model: model.languageModel,
      system: 'You are brief.',
      messages: [{ role: 'user', content: 'Where am I?' }],
      tools: [],
      maxOutputTokens,
      settings,
      providerOptions: { [model.provider]: { ...model.defaults, ...own } },
      signal: new AbortController().signal,
      now: () => clock.now(),
      ...rest,
    },
    {
      textBegins: () => heard.texts.push(''),
      text: (piece) => heard.texts.push((heard.texts.pop() ?? '') + piece),
      thinking: (thought) => heard.thoughts.push(thought),
    },
  );
  return { end, ...heard };
}

export function finished({ end }: Heard): Extract<StepEnd, { kind: 'finished' }> {
  if (end.kind !== 'finished') throw new Error(`the step ${end.kind}: ${JSON.stringify(end)}`);
  return end;
}

export function contentOf(heard: Heard): StepContent[] {
  return finished(heard).content;
}

export const WEATHER: LanguageModelV4FunctionTool = {
  type: 'function',
  name: 'weather',
  description: 'Says how the weather is.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
