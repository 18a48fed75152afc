/**
 * The names that `model_options` of an agent may have, by model provider. The agents service checks them when an agent
 * is created or changed; the runner checks them again, because an agent may have been stored before a name was removed.
 */

/** Options with the same meaning for every provider. */
const STANDARD_OPTIONS = [
  'temperature',
  'top_p',
  'top_k',
  'presence_penalty',
  'frequency_penalty',
  'stop_sequences',
  'seed',
  'max_output_tokens',
];

/**
 * Provider options of the AI SDK packages. These packages silently drop names that they do not know. Providers that
 * are missing here accept every name: OpenAI-compatible endpoints get options as members of the request, and the
 * rehearsal models check their options themselves.
 */
export const PROVIDER_OPTIONS = {
  /** `AnthropicLanguageModelOptions` of @ai-sdk/anthropic. */
  anthropic: [
    'anthropicBeta',
    'cacheControl',
    'compaction',
    'container',
    'contextManagement',
    'disableParallelToolUse',
    'effort',
    'fallbacks',
    'includePings',
    'inferenceGeo',
    'mcpServers',
    'metadata',
    'safeguards',
    'sendReasoning',
    'serviceTier',
    'speed',
    'structuredOutputMode',
    'taskBudget',
    'thinking',
    'thread',
    'toolStreaming',
  ],
  /** `OpenAILanguageModelResponsesOptions` of @ai-sdk/openai. */
  openai: [
    'allowedTools',
    'compactionTrigger',
    'contextManagement',
    'conversation',
    'forceReasoning',
    'include',
    'includeWebSearchSources',
    'instructions',
    'logprobs',
    'maxToolCalls',
    'metadata',
    'parallelToolCalls',
    'passThroughUnsupportedFiles',
    'previousResponseId',
    'promptCacheKey',
    'promptCacheOptions',
    'promptCacheRetention',
    'reasoningContext',
    'reasoningEffort',
    'reasoningEffortUpdate',
    'reasoningMode',
    'reasoningSummary',
    'safetyIdentifier',
    'serviceTier',
    'store',
    'strictJsonSchema',
    'systemMessageMode',
    'textFormat',
    'textVerbosity',
    'truncation',
    'user',
  ],
} as const;

const KNOWN_OPTIONS = new Map(
  Object.entries(PROVIDER_OPTIONS).map(([provider, names]) => [
    provider,
    new Set<string>([...STANDARD_OPTIONS, ...names]),
  ]),
);

/** Returns the top-level names in `options` that the provider of `model` (`<provider>/<model id>`) does not know. */
export function unknownModelOptions(model: string, options: object): string[] {
  const known = KNOWN_OPTIONS.get(model.slice(0, Math.max(0, model.indexOf('/'))));
  return known ? Object.keys(options).filter((name) => !known.has(name)) : [];
}
