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

/** `OpenAILanguageModelResponsesOptions` of @ai-sdk/openai, which Azure has, too. */
const OPENAI_RESPONSES_OPTIONS = [
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
] as const;

/** `GoogleLanguageModelOptions` of @ai-sdk/google, which Vertex AI has, too. */
const GOOGLE_OPTIONS = [
  'audioTimestamp',
  'cachedContent',
  'continuationToken',
  'imageConfig',
  'labels',
  'mediaResolution',
  'requestType',
  'responseModalities',
  'retrievalConfig',
  'safetySettings',
  'serviceTier',
  'sharedRequestType',
  'streamFunctionCallArguments',
  'structuredOutputs',
  'thinkingConfig',
  'threshold',
] as const;

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
  openai: OPENAI_RESPONSES_OPTIONS,
  azure: OPENAI_RESPONSES_OPTIONS,
  gemini: GOOGLE_OPTIONS,
  /** Those of Gemini models. Claude models have those of `anthropic`. */
  vertex: GOOGLE_OPTIONS,
  /** `AmazonBedrockLanguageModelOptions` of @ai-sdk/amazon-bedrock. */
  bedrock: [
    'additionalModelRequestFields',
    'anthropicBeta',
    'reasoningConfig',
    'serviceTier',
    'structuredOutputMode',
  ],
} as const;

/** Members of a request to Bedrock that its package passes on. */
const BEDROCK_MEMBERS = ['guardrailConfig', 'performanceConfig', 'promptVariables', 'requestMetadata'];

const KNOWN_OPTIONS = new Map(
  Object.entries(PROVIDER_OPTIONS).map(([provider, names]) => [
    provider,
    new Set<string>([...STANDARD_OPTIONS, ...names, ...(provider === 'bedrock' ? BEDROCK_MEMBERS : [])]),
  ]),
);

/** Returns the top-level names in `options` that the provider of `model` (`<provider>/<model id>`) does not know. */
export function unknownModelOptions(model: string, options: object): string[] {
  const provider = model.slice(0, Math.max(0, model.indexOf('/')));
  const known = KNOWN_OPTIONS.get(model.startsWith('vertex/claude-') ? 'anthropic' : provider);
  return known ? Object.keys(options).filter((name) => !known.has(name)) : [];
}
