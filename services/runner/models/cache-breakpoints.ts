import type {
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';

/**
 * How a provider learns which part of a request it can cache. `breakpoints`: marks in the request, as at Anthropic.
 * `session_key`: a key that sends the requests of a session to the same cache, as at OpenAI.
 */
export type PromptCaching = 'breakpoints' | 'session_key';

interface CacheableRequest {
  prompt: LanguageModelV4Prompt;
  tools: LanguageModelV4FunctionTool[];
}

/** The package of Anthropic reads this option of messages and tools. */
const BREAKPOINT: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/**
 * Marks what the next request will repeat: the tools, the system prompt, and the last message, which is written to the
 * cache. The last message of the request before is marked again, because the provider looks for an earlier entry among
 * the 20 blocks before a mark only, and a step can have more results. These are the four marks that Anthropic accepts
 * (https://docs.claude.com/en/docs/build-with-claude/prompt-caching). The marks do not change what is cached.
 */
export function withCacheBreakpoints({ prompt, tools }: CacheableRequest): CacheableRequest {
  const system = prompt.findLastIndex(({ role }) => role === 'system');
  const answer = prompt.findLastIndex(({ role }) => role === 'assistant');
  const marked = new Set([system, answer - 1, prompt.length - 1]);
  return {
    prompt: prompt.map((message, index) => (marked.has(index) ? withMark(message) : message)),
    tools: tools.map((tool, index) => (index === tools.length - 1 ? withMark(tool) : tool)),
  };
}

function withMark<Marked extends { providerOptions?: SharedV4ProviderOptions }>(one: Marked): Marked {
  const { anthropic } = one.providerOptions ?? {};
  const providerOptions = { ...one.providerOptions, anthropic: { ...BREAKPOINT.anthropic, ...anthropic } };
  return { ...one, providerOptions };
}
