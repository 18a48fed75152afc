import {
  APICallError,
  type JSONValue,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { type Clock, wait } from '../../../../lib/clock.ts';
import { callsSinceUser, countWords, lastToolText, lastUserText, tokens, usageOf } from './prompt.ts';
import { readSteps, type ScriptError, ScriptProblem, type ScriptStep } from './steps.ts';

/**
 * `rehearsal/script` plays `model_options.steps` (see steps.ts). `{{input}}` in a text is the last user
 * message, `{{last_tool_output}}` what the last tool gave.
 *
 * One answer goes up to the next tools and has them called; the answer after it goes on behind them. Where it
 * stands it sees from the number of calls in the prompt. An error step fails its `times` and is passed over
 * afterwards: it counts by the failures since the turn last got on, which it is told. It keeps nothing itself, so
 * a script plays the same over restarts and on any runner.
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
      const scene = sceneOf(options);
      const { steps, fails } = scene;
      const [first] = steps;
      // Nothing was said yet: the request itself is refused, as a provider would do it.
      if (first?.kind === 'error' && first === fails && first.error !== 'cut_stream') throw refusal(first);
      const parts = play(scene, options, clock);
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

/** What one answer plays. */
interface Scene {
  steps: ScriptStep[];
  /** The error step that it meets; undefined when all of them are used up. */
  fails: ErrorStep | undefined;
  /** The id of the first call; the others count on. */
  question: number;
  calls: number;
}

function sceneOf({ providerOptions, prompt }: LanguageModelV4CallOptions): Scene {
  const { calls, question } = callsSinceUser(prompt);
  try {
    const steps = behind(readSteps(providerOptions?.rehearsal), calls);
    const failures = providerOptions?.turn?.failures;
    return { steps, fails: failingStep(steps, typeof failures === 'number' ? failures : 0), question, calls };
  } catch (error) {
    throw error instanceof ScriptProblem ? apiError(400, error.message) : error;
  }
}

/** The steps behind so many calls, up to the end of the next run of tools. */
function behind(steps: ScriptStep[], calls: number): ScriptStep[] {
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

async function* play(
  { steps, fails, question, calls }: Scene,
  { prompt, maxOutputTokens = Number.POSITIVE_INFINITY, abortSignal }: LanguageModelV4CallOptions,
  clock: Clock,
): AsyncGenerator<LanguageModelV4StreamPart, undefined> {
  const fill = (text: string) =>
    text.replace(/\{\{(input|last_tool_output)\}\}/g, (_, name) =>
      name === 'input' ? lastUserText(prompt) : lastToolText(prompt),
    );
  let usage: ReturnType<typeof tokens> | undefined;
  let words = 0;
  let last = '';
  let full = false;
  let called = calls;
  yield { type: 'stream-start', warnings: [] };
  for (const [index, step] of steps.entries()) {
    const id = String(index);
    if (step === fails) {
      // A stream that simply ends, without saying why, is one that was cut.
      if (fails.error !== 'cut_stream') yield { type: 'error', error: refusal(fails) };
      return;
    }
    if (step.kind === 'usage') usage = tokens(step.inputTokens, step.outputTokens);
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
    if (step.kind === 'tool' && !full) {
      const toolCallId = `call_${question}_${++called}`;
      const input = JSON.stringify(filled(step.input, fill));
      yield { type: 'tool-call', toolCallId, toolName: step.tool, input };
    }
  }
  const unified = full ? 'length' : called > calls ? 'tool-calls' : 'stop';
  yield { type: 'finish', usage: usage ?? usageOf(prompt, words), finishReason: { unified, raw: undefined } };
  return;
}

/** Every text in it is filled in. */
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

function refusal({ error, retryAfterSeconds }: ErrorStep): APICallError {
  const status = error === 'cut_stream' ? 500 : STATUS[error];
  return apiError(status, `the script says ${error}`, retryAfterSeconds);
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
