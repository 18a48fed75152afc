import {
  APICallError,
  type JSONValue,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4StreamPart,
  type LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { type Clock, wait } from '../../../../lib/clock.ts';
import { callsSinceUser, countWords, lastToolText, lastUserText, usageOf } from './prompt.ts';
import { readSteps, type ScriptError, ScriptProblem, type ScriptStep } from './steps.ts';

/**
 * `rehearsal/script` runs `model_options.steps` (see steps.ts). In texts, `{{input}}` is the last user message and
 * `{{last_tool_output}}` is the last tool result.
 *
 * One response runs up to and including the next tool calls; the following response continues behind them. The position
 * in the script follows from the number of tool calls of the turn in the prompt, also if the turn is steered. An error step fails `times` times and is skipped
 * afterwards, counted by the failures since the turn last made progress, which the runner passes in. The model has no
 * state of its own, so a script runs in the same way after a restart and on any runner.
 */
export function createScript(clock: Clock): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'rehearsal',
    modelId: 'script',
    supportedUrls: {},
    async doGenerate() {
      throw new Error('rehearsal models only stream');
    },
    async doStream(options) {
      const response = scriptedResponse(options);
      const { steps, fails } = response;
      const [first] = steps;
      // An error before any output rejects the request itself, as a provider would.
      if (first?.kind === 'error' && first === fails && first.error !== 'cut_stream')
        throw scriptedError(first);
      const parts = streamSteps(response, options, clock);
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        async pull(controller) {
          const { done, value } = await parts.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        async cancel() {
          await parts.return(undefined);
        },
      });
      return { stream };
    },
  };
}

type ErrorStep = Extract<ScriptStep, { kind: 'error' }>;

/** The part of the script that one response runs. */
interface ScriptedResponse {
  steps: ScriptStep[];
  /** The error step that fails this response; undefined when none does. */
  fails: ErrorStep | undefined;
  /** The number of the user message, which is part of the ids of tool calls. */
  userMessages: number;
  calls: number;
}

function scriptedResponse({ providerOptions, prompt }: LanguageModelV4CallOptions): ScriptedResponse {
  const { calls, userMessages } = callsSinceUser(prompt, { ofTurn: true });
  try {
    const { failures, invalidOutputs } = providerOptions?.turn ?? {};
    const answer = stepsOfAnswer(readSteps(providerOptions?.rehearsal), Number(invalidOutputs ?? 0));
    const steps = stepsBehind(answer, calls);
    return {
      steps,
      fails: failingStep(steps, typeof failures === 'number' ? failures : 0),
      userMessages,
      calls,
    };
  } catch (error) {
    throw error instanceof ScriptProblem ? apiError(400, error.message) : error;
  }
}

/** The steps behind the given number of `answer_again` steps, or behind the last one, up to the next one. */
function stepsOfAnswer(steps: ScriptStep[], invalidOutputs: number): ScriptStep[] {
  let rest = steps;
  for (let passed = 0; ; passed++) {
    const end = rest.findIndex(({ kind }) => kind === 'answer_again');
    if (end < 0) return rest;
    if (passed === invalidOutputs) return rest.slice(0, end);
    rest = rest.slice(end + 1);
  }
}

/** The steps behind the given number of tool calls, up to the end of the next group of tool steps. */
function stepsBehind(steps: ScriptStep[], calls: number): ScriptStep[] {
  let begin = 0;
  for (let passed = 0; passed < calls && begin < steps.length; begin++) {
    if (steps[begin]?.kind === 'tool') passed++;
  }
  const rest = steps.slice(begin);
  const end = rest.findIndex(({ kind }, index) => kind === 'tool' && rest[index + 1]?.kind !== 'tool');
  return end < 0 ? rest : rest.slice(0, end + 1);
}

function failingStep(steps: ScriptStep[], failures: number): ErrorStep | undefined {
  let used = 0;
  for (const step of steps) {
    if (step.kind !== 'error') continue;
    used += step.times;
    if (failures < used) return step;
  }
  return undefined;
}

async function* streamSteps(
  { steps, fails, userMessages, calls }: ScriptedResponse,
  { prompt, maxOutputTokens = Number.POSITIVE_INFINITY, abortSignal }: LanguageModelV4CallOptions,
  clock: Clock,
): AsyncGenerator<LanguageModelV4StreamPart, undefined> {
  const fill = (text: string) =>
    text.replace(/\{\{(input|last_tool_output)\}\}/g, (_, name) =>
      name === 'input' ? lastUserText(prompt) : lastToolText(prompt),
    );
  let usage: LanguageModelV4Usage | undefined;
  let words = 0;
  let last = '';
  let full = false;
  let called = calls;
  yield { type: 'stream-start', warnings: [] };
  for (const [index, step] of steps.entries()) {
    const id = String(index);
    if (step === fails) {
      // A stream without a finish part counts as interrupted.
      if (fails.error !== 'cut_stream') yield { type: 'error', error: scriptedError(fails) };
      return;
    }
    if (step.kind === 'usage') usage = step.usage;
    if (step.kind === 'thinking') {
      yield { type: 'reasoning-start', id };
      yield { type: 'reasoning-delta', id, delta: fill(step.text) };
      yield { type: 'reasoning-end', id };
    }
    if (step.kind === 'text' && !full) {
      yield { type: 'text-start', id };
      for (const delta of chunks(fill(step.text), step.chunkChars)) {
        if (step.delayMs > 0) await wait(clock, step.delayMs, abortSignal);
        if (abortSignal?.aborted) return;
        const more = countWords(last + delta) - countWords(last);
        full = words + more > maxOutputTokens;
        if (full) break;
        words += more;
        last = delta.slice(-1);
        yield { type: 'text-delta', id, delta };
      }
      yield { type: 'text-end', id };
    }
    if (step.kind === 'file' && !full)
      yield { type: 'file', mediaType: step.mediaType, data: { type: 'data', data: step.bytes } };
    if (step.kind === 'tool' && !full) {
      const toolCallId = `call_${userMessages}_${++called}`;
      const input = JSON.stringify(filled(step.input, fill));
      yield { type: 'tool-call', toolCallId, toolName: step.tool, input };
    }
  }
  const unified = full ? 'length' : called > calls ? 'tool-calls' : 'stop';
  yield { type: 'finish', usage: usage ?? usageOf(prompt, words), finishReason: { unified, raw: undefined } };
  return;
}

/** Replaces the placeholders in every text of a JSON value. */
function filled(value: JSONValue, fill: (text: string) => string): JSONValue {
  if (typeof value === 'string') return fill(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => filled(one, fill));
  const members = Object.entries(value).map(([name, one]) => [name, filled(one ?? null, fill)]);
  return Object.fromEntries(members);
}

function* chunks(text: string, size = text.length): Generator<string> {
  for (let begin = 0; begin < text.length; begin += size) yield text.slice(begin, begin + size);
}

const STATUS: Record<Exclude<ScriptError, 'cut_stream'>, number> = {
  overloaded: 529,
  rate_limited: 429,
  bad_request: 400,
};

function scriptedError({ error, retryAfterSeconds }: ErrorStep): APICallError {
  const status = error === 'cut_stream' ? 500 : STATUS[error];
  return apiError(status, `The script requests the error ${error}.`, retryAfterSeconds);
}

function apiError(statusCode: number, message: string, retryAfterSeconds?: number): APICallError {
  return new APICallError({
    message,
    statusCode,
    url: 'rehearsal:script',
    requestBodyValues: {},
    responseHeaders: retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
  });
}
