import type {
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';

/**
 * How a provider learns which part of a request it can cache. `breakpoints`: marks in the request, as at Anthropic.
 * `bedrock_breakpoints`: the same marks in the form of Bedrock. `session_key`: a key that sends the requests of a session to
 * the same cache, as at OpenAI.
 */
export type PromptCaching = Breakpoints | 'session_key';
export type Breakpoints = 'breakpoints' | 'bedrock_breakpoints';

interface CacheableRequest {
  prompt: LanguageModelV4Prompt;
  tools: LanguageModelV4FunctionTool[];
}

/** The options of messages and tools that the packages read. That of Bedrock reads none of tools. */
const MARKS: Record<Breakpoints, SharedV4ProviderOptions> = {
  breakpoints: { anthropic: { cacheControl: { type: 'ephemeral' } } },
  bedrock_breakpoints: { amazonBedrock: { cachePoint: { type: 'default' } } },
};

/**
 * Marks what the next request will repeat: the tools, the system prompt, and the last message, which is written to the
 * cache. The last message of the request before is marked again, because the provider looks for an earlier entry among
 * the 20 blocks before a mark only, and a step can have more results. These are the four marks that Anthropic accepts
 * (https://docs.claude.com/en/docs/build-with-claude/prompt-caching). The marks do not change what is cached.
 */
export function withCacheBreakpoints(
  { prompt, tools }: CacheableRequest,
  breakpoints: Breakpoints,
): CacheableRequest {
  const mark = MARKS[breakpoints];
  const system = prompt.findLastIndex(({ role }) => role === 'system');
  const answer = prompt.findLastIndex(({ role }) => role === 'assistant');
  const marked = new Set([system, answer - 1, prompt.length - 1]);
  return {
    prompt: prompt.map((message, index) => (marked.has(index) ? withMark(message, mark) : message)),
    tools: tools.map((tool, index) => (index === tools.length - 1 ? withMark(tool, mark) : tool)),
  };
}

/** Options of the author win. */
function withMark<Marked extends { providerOptions?: SharedV4ProviderOptions }>(
  one: Marked,
  mark: SharedV4ProviderOptions,
): Marked {
  const providerOptions = { ...one.providerOptions };
  for (const [name, options] of Object.entries(mark))
    providerOptions[name] = { ...options, ...providerOptions[name] };
  return { ...one, providerOptions };
}
