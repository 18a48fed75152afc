import { IMAGE_TYPES, type ModelEntry, PDF_TYPE, TEXT_TYPES } from './entry.ts';

/**
 * Limits and capabilities of the models of Bedrock, Vertex AI, Azure and the Gemini API, as of 2026-11-29. Sources:
 * https://docs.aws.amazon.com/bedrock/latest/userguide/models-supported.html,
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/models, https://ai.google.dev/gemini-api/docs/models,
 * https://learn.microsoft.com/azure/ai-foundry/openai/concepts/models, and the model ids of the packages @ai-sdk/amazon-bedrock
 * and @ai-sdk/google. Where sources disagree, the smaller limit is listed. Models of Anthropic and OpenAI have the limits that
 * they have at these providers.
 */

export type Row = readonly [id: string, contextWindow: number, maxOutput: number];

const ALL = { tools: true, images: true, structuredOutput: true, caching: true };

/** Gemini models up to 3 count input and output separately. The window is the limit of their input. */
const GEMINI: readonly Row[] = [
  ['gemini-4-argon', 1_048_576, 65_536],
  ['gemini-3.8-flash', 1_000_000, 65_535],
  ['gemini-3.7-flash', 1_000_000, 65_535],
  ['gemini-3.6-flash', 1_048_576, 65_535],
  ['gemini-3.5-flash', 1_048_576, 65_535],
  ['gemini-3.5-flash-lite', 1_048_576, 65_535],
  ['gemini-3.1-pro-preview', 1_048_576, 65_535],
  ['gemini-3-pro-preview', 1_048_576, 65_535],
  ['gemini-3-flash-preview', 1_048_576, 65_535],
  ['gemini-2.5-pro', 1_048_576, 65_535],
  ['gemini-2.5-flash', 1_048_576, 65_535],
  ['gemini-2.5-flash-lite', 1_048_576, 65_535],
  ['gemini-2.0-flash', 1_048_576, 8_192],
];
const GEMINI_TYPES = [...IMAGE_TYPES, 'image/heic', 'image/heif', PDF_TYPE, TEXT_TYPES, 'audio/*', 'video/*'];

/** The ids of Claude models that Bedrock names otherwise than `anthropic.<id>`, and those that it does not have. */
const BEDROCK_IDS: Readonly<Record<string, string | undefined>> = {
  'claude-fable-5-2': undefined,
  'claude-haiku-5-5': undefined,
  'claude-opus-4-6': 'claude-opus-4-6-v1',
  'claude-opus-4-5': 'claude-opus-4-5-20251101-v1:0',
  'claude-opus-4-1': 'claude-opus-4-1-20250805-v1:0',
  'claude-opus-4-0': 'claude-opus-4-20250514-v1:0',
  'claude-sonnet-4-6': 'claude-sonnet-4-6-v1',
  'claude-sonnet-4-5': 'claude-sonnet-4-5-20250929-v1:0',
  'claude-sonnet-4-0': 'claude-sonnet-4-20250514-v1:0',
  'claude-haiku-4-5': 'claude-haiku-4-5-20251001-v1:0',
  'claude-3-7-sonnet-latest': 'claude-3-7-sonnet-20250219-v1:0',
  'claude-3-5-sonnet-latest': undefined,
  'claude-3-5-haiku-latest': undefined,
  'claude-3-opus-latest': undefined,
  'claude-3-sonnet-20240229': undefined,
};
/** Bedrock has no cache for it. */
const BEDROCK_UNCACHED = 'claude-3-haiku-20240307';

const NOVA: readonly ModelEntry[] = [
  bedrock(['amazon.nova-premier-v1:0', 1_000_000, 10_000], { ...ALL, structuredOutput: false }),
  bedrock(['amazon.nova-pro-v1:0', 300_000, 10_000], { ...ALL, structuredOutput: false }),
  bedrock(['amazon.nova-lite-v1:0', 300_000, 10_000], { ...ALL, structuredOutput: false }),
  bedrock(
    ['amazon.nova-micro-v1:0', 128_000, 10_000],
    { tools: true, images: false, structuredOutput: false, caching: true },
    [TEXT_TYPES],
  ),
];

/** Standard deployments of these models at Azure have a smaller window than the models at OpenAI. */
const AZURE_WINDOWS: Readonly<Record<string, number>> = {
  'gpt-4.1': 300_000,
  'gpt-4.1-mini': 300_000,
  'gpt-4.1-nano': 300_000,
};

/** Returns the entries of these providers. `claude` and `gpt` are the models of Anthropic and OpenAI with all capabilities. */
export function cloudModels(claude: readonly Row[], gpt: readonly Row[]): ModelEntry[] {
  const newer = claude.filter(([id]) => !id.startsWith('claude-3-'));
  return [
    ...claude.flatMap(([id, ...limits]) => {
      const named = Object.hasOwn(BEDROCK_IDS, id) ? BEDROCK_IDS[id] : bedrockId(id);
      if (named === undefined) return [];
      return [bedrock([`anthropic.${named}`, ...limits], { ...ALL, caching: id !== BEDROCK_UNCACHED })];
    }),
    ...NOVA,
    ...GEMINI.map((row) => entry('vertex', row, GEMINI_TYPES)),
    ...newer.map((row) => entry('vertex', row, [...IMAGE_TYPES, PDF_TYPE, TEXT_TYPES])),
    ...gpt.map(([id, window, maxOutput]) =>
      entry('azure', [id, AZURE_WINDOWS[id] ?? window, maxOutput], [...IMAGE_TYPES, PDF_TYPE, TEXT_TYPES]),
    ),
    ...GEMINI.map((row) => entry('gemini', row, GEMINI_TYPES)),
  ];
}

function bedrockId(id: string): string {
  return /-\d{8}$/.test(id) ? `${id}-v1:0` : id;
}

function bedrock(
  row: Row,
  capabilities: ModelEntry['capabilities'],
  mediaTypes: readonly string[] = [...IMAGE_TYPES, PDF_TYPE, TEXT_TYPES],
): ModelEntry {
  return { ...entry('bedrock', row, mediaTypes), capabilities };
}

function entry(
  provider: string,
  [id, contextWindow, maxOutput]: Row,
  mediaTypes: readonly string[],
): ModelEntry {
  return { name: `${provider}/${id}`, contextWindow, maxOutput, capabilities: ALL, mediaTypes };
}
