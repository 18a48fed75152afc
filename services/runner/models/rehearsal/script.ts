import {
  APICallError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { type Clock, wait } from '../../../../lib/clock.ts';
import { countWords, lastToolText, lastUserText, tokens, usageOf } from './prompt.ts';
import { readSteps, type ScriptError, ScriptProblem, type ScriptStep } from './steps.ts';

/**
 * `rehearsal/script` plays `model_options.steps` (see steps.ts). `{{input}}` in a text is the last user
 * message, `{{last_tool_output}}` what the last tool gave.
 *
 * An error step fails its `times` and is passed over afterwards. It counts by the attempt of the turn, which
 * it is told, and keeps nothing itself: so a script plays the same over restarts and on any runner.
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
      const { steps, attempt } = stepsOf(options);
      const fails = failingStep(steps, attempt);
      const [first] = steps;
      // Nothing was said yet: the request itself is refused, as a provider would do it.
      if (first?.kind === 'error' && first === fails && first.error !== 'cut_stream') throw refusal(first);
      const parts = play(steps, fails, options, clock);
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

function stepsOf({ providerOptions }: LanguageModelV4CallOptions): { steps: ScriptStep[]; attempt: number } {
  try {
    const attempt = providerOptions?.turn?.attempt;
    return {
      steps: readSteps(providerOptions?.rehearsal),
      attempt: typeof attempt === 'number' ? attempt : 1,
    };
  } catch (error) {
    throw error instanceof ScriptProblem ? apiError(400, error.message) : error;
  }
}

/** The error step that this attempt of the turn meets; undefined when all of them are used up. */
function failingStep(steps: ScriptStep[], attempt: number): ErrorStep | undefined {
  let used = 0;
  for (const step of steps) {
    if (step.kind !== 'error') continue;
    used += step.times;
    if (attempt <= used) return step;
  }
  return undefined;
}

async function* play(
  steps: ScriptStep[],
  fails: ErrorStep | undefined,
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
  }
  const unified = full ? 'length' : 'stop';
  yield { type: 'finish', usage: usage ?? usageOf(prompt, words), finishReason: { unified, raw: undefined } };
  return;
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
