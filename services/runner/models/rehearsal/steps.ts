import type { JSONValue, LanguageModelV4Usage } from '@ai-sdk/provider';
import { tokenUsage } from './prompt.ts';

/** One step of the script model. Steps run in the order of `model_options.steps`. */
export type ScriptStep =
  | { kind: 'text'; text: string; chunkChars: number | undefined; delayMs: number }
  | { kind: 'thinking'; text: string }
  | { kind: 'file'; mediaType: string; bytes: Buffer }
  | { kind: 'tool'; tool: string; input: JSONValue }
  | { kind: 'error'; error: ScriptError; times: number; retryAfterSeconds: number | undefined }
  | { kind: 'answer_again' }
  | { kind: 'usage'; usage: LanguageModelV4Usage };

const SCRIPT_ERRORS = ['overloaded', 'rate_limited', 'bad_request', 'cut_stream'] as const;
export type ScriptError = (typeof SCRIPT_ERRORS)[number];

type Members = Record<string, unknown>;

/** Invalid options. The message is for the author of the agent. */
export class ScriptProblem extends Error {}

const MAX_DELAY_MS = 3_600_000;

/**
 * Reads `{"steps": […]}`. A step is one of
 *
 *   {"text": string, "chunk_chars"?: n, "delay_ms"?: n}   streams the text in chunks of n UTF-16 units, each after a
 *                                                         delay
 *   {"thinking": string}
 *   {"file": {"media_type": string, "data": Base64}}      makes an image or a file
 *   {"tool": string, "input"?: any JSON}                  calls the tool and continues with its result; adjacent tool
 *                                                         steps are called together
 *   {"error": {"kind": overloaded|rate_limited|bad_request|cut_stream}, "times"?: n, "retry_after_seconds"?: n}
 *   {"answer_again": true}                                ends the answer; the steps behind it are for the answer after one
 *                                                         that does not match the output schema
 *   {"usage": {"input_tokens": n, "output_tokens": n}}    replaces the counted words; optional cached_input_tokens,
 *                                                         cache_write_tokens and reasoning_tokens
 *
 * Throws a ScriptProblem that names the step.
 */
export function readSteps(options: unknown): ScriptStep[] {
  const { steps } = members(options, 'model_options', ['steps']);
  if (!Array.isArray(steps)) throw new ScriptProblem('model_options.steps is not a list');
  return steps.map((step, index) => readStep(step, `steps[${index}]`));
}

function readStep(value: unknown, at: string): ScriptStep {
  const step = members(value, at, [], true);
  if ('text' in step) {
    members(value, at, ['text', 'chunk_chars', 'delay_ms']);
    return {
      kind: 'text',
      text: text(step.text, `${at}.text`),
      chunkChars: optional(step.chunk_chars, `${at}.chunk_chars`, 1),
      delayMs: optional(step.delay_ms, `${at}.delay_ms`, 0, MAX_DELAY_MS) ?? 0,
    };
  }
  if ('thinking' in step) {
    members(value, at, ['thinking']);
    return { kind: 'thinking', text: text(step.thinking, `${at}.thinking`) };
  }
  if ('tool' in step) {
    members(value, at, ['tool', 'input']);
    return { kind: 'tool', tool: text(step.tool, `${at}.tool`), input: (step.input ?? {}) as JSONValue };
  }
  if ('file' in step) {
    members(value, at, ['file']);
    const file = members(step.file, `${at}.file`, ['media_type', 'data']);
    const mediaType = text(file.media_type, `${at}.file.media_type`);
    return { kind: 'file', mediaType, bytes: Buffer.from(text(file.data, `${at}.file.data`), 'base64') };
  }
  if ('answer_again' in step) {
    members(value, at, ['answer_again']);
    if (step.answer_again !== true) throw new ScriptProblem(`${at}.answer_again is not true`);
    return { kind: 'answer_again' };
  }
  if ('error' in step) return readError(members(value, at, ['error', 'times', 'retry_after_seconds']), at);
  if ('usage' in step) {
    members(value, at, ['usage']);
    return { kind: 'usage', usage: readUsage(step.usage, `${at}.usage`) };
  }
  throw new ScriptProblem(`${at} is none of text, file, tool, thinking, answer_again, error, usage`);
}

/** The cached and cache-written tokens are a part of the input, and the reasoning is a part of the output. */
function readUsage(value: unknown, at: string): LanguageModelV4Usage {
  const usage = members(value, at, [...REQUIRED_COUNTS, ...PARTIAL_COUNTS]);
  const input = count(usage.input_tokens, `${at}.input_tokens`);
  const output = count(usage.output_tokens, `${at}.output_tokens`);
  const part = (name: (typeof PARTIAL_COUNTS)[number], max: number) =>
    optional(usage[name], `${at}.${name}`, 0, max) ?? 0;
  const cached = part('cached_input_tokens', input);
  const written = part('cache_write_tokens', input - cached);
  return tokenUsage(input, output, { cached, written, reasoning: part('reasoning_tokens', output) });
}

const REQUIRED_COUNTS = ['input_tokens', 'output_tokens'] as const;
const PARTIAL_COUNTS = ['cached_input_tokens', 'cache_write_tokens', 'reasoning_tokens'] as const;

function readError(step: Members, at: string): ScriptStep {
  const { kind } = members(step.error, `${at}.error`, ['kind']);
  const error = SCRIPT_ERRORS.find((one) => one === kind);
  if (!error) throw new ScriptProblem(`${at}.error.kind is none of ${SCRIPT_ERRORS.join(', ')}`);
  return {
    kind: 'error',
    error,
    times: optional(step.times, `${at}.times`, 1) ?? 1,
    retryAfterSeconds: optional(step.retry_after_seconds, `${at}.retry_after_seconds`, 0),
  };
}

function members(value: unknown, at: string, known: string[], more = false): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ScriptProblem(`${at} is not an object`);
  }
  const unknown = more ? undefined : Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new ScriptProblem(`${at} has an unknown member ${unknown}`);
  return { ...value };
}

function text(value: unknown, at: string): string {
  if (typeof value !== 'string') throw new ScriptProblem(`${at} is not a text`);
  return value;
}

function count(value: unknown, at: string, min = 0, max = 2 ** 31 - 1): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new ScriptProblem(`${at} is not a whole number from ${min} to ${max}`);
}

function optional(value: unknown, at: string, min: number, max?: number): number | undefined {
  return value === undefined ? undefined : count(value, at, min, max);
}
