import type { FastifyReply } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { optional } from '../../schemas/common.ts';

/** A member that may be null instead of absent. */
export const nullish = <Schema extends TSchema>(schema: Schema) =>
  optional(Type.Union([schema, Type.Null()]));

const anything = optional(Type.Unknown());

/** Parameters that have no effect, because the agent decides or because nothing corresponds to them. */
const IGNORED = [
  'context_management',
  'frequency_penalty',
  'include',
  'logit_bias',
  'logprobs',
  'max_completion_tokens',
  'max_output_tokens',
  'max_tokens',
  'max_tool_calls',
  'parallel_tool_calls',
  'prediction',
  'presence_penalty',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning',
  'reasoning_effort',
  'safety_identifier',
  'seed',
  'service_tier',
  'stop',
  'store',
  'temperature',
  'top_logprobs',
  'top_p',
  'truncation',
  'user',
  'verbosity',
] as const;

/** Members of parameters that are used otherwise. */
const IGNORED_MEMBERS = [
  ['stream_options', 'include_obfuscation'],
  ['text', 'verbosity'],
] as const;

const NONE = Type.Array(Type.Unknown(), {
  maxItems: 0,
  description: 'Refused unless it is empty: an agent has its own tools.',
});

/** Members of every request that are accepted without effect, and those that are refused unless they say nothing. */
export const commonParameters = {
  ...(Object.fromEntries(IGNORED.map((name) => [name, anything])) as Record<
    (typeof IGNORED)[number],
    typeof anything
  >),
  tools: nullish(NONE),
  functions: nullish(NONE),
  tool_choice: nullish(Type.Enum(['auto', 'none'])),
  function_call: nullish(Type.Enum(['auto', 'none'])),
  n: nullish(Type.Literal(1)),
  modalities: nullish(Type.Array(Type.Literal('text'))),
};

/**
 * Names in `x-ignored-parameters` what a request has set without effect. `others` are those that the agent of this request
 * ignores.
 */
export function setIgnoredHeader(reply: FastifyReply, body: object, others: readonly string[]): void {
  const given = IGNORED.filter((name) => isGiven(body, name));
  const members = IGNORED_MEMBERS.filter(([name, member]) => {
    const value = (body as Record<string, unknown>)[name];
    return typeof value === 'object' && value !== null && isGiven(value, member);
  });
  const names = [...given, ...members.map((path) => path.join('.')), ...others];
  if (names.length > 0) reply.header('x-ignored-parameters', names.join(', '));
}

function isGiven(object: object, name: string): boolean {
  const value = (object as Record<string, unknown>)[name];
  return value !== undefined && value !== null;
}
