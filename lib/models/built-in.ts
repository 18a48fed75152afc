import { cloudModels, type Row } from './cloud-models.ts';
import { ANY_TYPE, IMAGE_TYPES, type ModelEntry, PDF_TYPE, TEXT_TYPES } from './entry.ts';

/**
 * Limits and capabilities of the models of Anthropic and OpenAI, as of 2026-11-29.
 * Sources: https://platform.claude.com/docs/en/about-claude/models/overview and its page for each model,
 * https://developers.openai.com/api/docs/models and its page for each model, and the catalogue https://models.dev for
 * models that these pages no longer list. Where sources disagree, the smaller limit is listed.
 */

const CLAUDE_TYPES = [...IMAGE_TYPES, PDF_TYPE, TEXT_TYPES];
const ALL = { tools: true, images: true, structuredOutput: true, caching: true };

/** Models without a native mode for schemas answer with the input of a tool that they are forced to call. */
const CLAUDE: readonly Row[] = [
  ['claude-fable-5-2', 1_000_000, 128_000],
  ['claude-fable-5-1', 1_000_000, 128_000],
  ['claude-fable-5', 1_000_000, 128_000],
  ['claude-opus-5-5', 1_000_000, 128_000],
  ['claude-opus-5', 1_000_000, 128_000],
  ['claude-opus-4-8', 1_000_000, 128_000],
  ['claude-opus-4-7', 1_000_000, 128_000],
  ['claude-opus-4-6', 1_000_000, 128_000],
  ['claude-opus-4-5', 200_000, 64_000],
  ['claude-opus-4-1', 200_000, 32_000],
  ['claude-opus-4-0', 200_000, 32_000],
  ['claude-sonnet-5-5', 1_000_000, 128_000],
  ['claude-sonnet-5', 1_000_000, 128_000],
  ['claude-sonnet-4-6', 1_000_000, 64_000],
  ['claude-sonnet-4-5', 200_000, 64_000],
  ['claude-sonnet-4-0', 200_000, 64_000],
  ['claude-haiku-5-5', 1_000_000, 128_000],
  ['claude-haiku-4-5', 200_000, 64_000],
  ['claude-3-7-sonnet-latest', 200_000, 64_000],
  ['claude-3-5-sonnet-latest', 200_000, 8_192],
  ['claude-3-5-haiku-latest', 200_000, 8_192],
  ['claude-3-opus-latest', 200_000, 4_096],
  ['claude-3-sonnet-20240229', 200_000, 4_096],
  ['claude-3-haiku-20240307', 200_000, 4_096],
];

const CLAUDE_TEXT: readonly Row[] = [
  ['claude-2.1', 200_000, 4_096],
  ['claude-2.0', 100_000, 4_096],
  ['claude-instant-1.2', 100_000, 4_096],
];

const GPT: readonly Row[] = [
  ['gpt-6.1-sol', 1_050_000, 128_000],
  ['gpt-6.1-terra', 1_050_000, 128_000],
  ['gpt-6-astra', 1_050_000, 128_000],
  ['gpt-6-sol', 1_050_000, 128_000],
  ['gpt-6-luna', 1_050_000, 128_000],
  ['gpt-5.6', 1_050_000, 128_000],
  ['gpt-5.6-sol', 1_050_000, 128_000],
  ['gpt-5.6-terra', 1_050_000, 128_000],
  ['gpt-5.6-luna', 1_050_000, 128_000],
  ['gpt-5.5', 1_050_000, 128_000],
  ['gpt-5.5-pro', 1_050_000, 128_000],
  ['gpt-5.4', 1_050_000, 128_000],
  ['gpt-5.4-mini', 400_000, 128_000],
  ['gpt-5.4-nano', 400_000, 128_000],
  ['gpt-5.3-chat-latest', 128_000, 16_384],
  ['gpt-5.3-codex', 400_000, 128_000],
  ['gpt-5.2', 400_000, 128_000],
  ['gpt-5.2-chat-latest', 128_000, 16_384],
  ['gpt-5.2-codex', 400_000, 128_000],
  ['gpt-5.1', 400_000, 128_000],
  ['gpt-5.1-chat-latest', 128_000, 16_384],
  ['gpt-5.1-codex', 400_000, 128_000],
  ['gpt-5.1-codex-max', 400_000, 128_000],
  ['gpt-5.1-codex-mini', 400_000, 128_000],
  ['gpt-5', 400_000, 128_000],
  ['gpt-5-codex', 400_000, 128_000],
  ['gpt-5-mini', 400_000, 128_000],
  ['gpt-5-nano', 400_000, 128_000],
  ['gpt-5-pro', 400_000, 272_000],
  ['gpt-4.1', 1_047_576, 32_768],
  ['gpt-4.1-mini', 1_047_576, 32_768],
  ['gpt-4.1-nano', 1_047_576, 32_768],
  ['gpt-4o', 128_000, 16_384],
  ['gpt-4o-2024-05-13', 128_000, 4_096],
  ['gpt-4o-mini', 128_000, 16_384],
  ['o1', 200_000, 100_000],
  ['o1-pro', 200_000, 100_000],
  ['o3', 200_000, 100_000],
  ['o3-pro', 200_000, 100_000],
  ['o4-mini', 200_000, 100_000],
];

const OPENAI_OTHERS: readonly ModelEntry[] = [
  openai(['gpt-5.4-pro', 1_050_000, 128_000], { ...ALL, structuredOutput: false }),
  openai(['gpt-5.2-pro', 400_000, 128_000], { ...ALL, structuredOutput: false }),
  openai(['gpt-5-chat-latest', 400_000, 128_000], { ...ALL, tools: false, structuredOutput: false }),
  openai(['o3-mini', 200_000, 100_000], { ...ALL, images: false }),
  openai(['gpt-4-turbo', 128_000, 4_096], { ...ALL, structuredOutput: false, caching: false }, [
    ...IMAGE_TYPES,
    TEXT_TYPES,
  ]),
  openai(['gpt-4', 8_192, 8_192], {
    tools: true,
    images: false,
    structuredOutput: false,
    caching: false,
  }),
  openai(['gpt-3.5-turbo', 16_385, 4_096], {
    tools: true,
    images: false,
    structuredOutput: false,
    caching: false,
  }),
];

/** They have no limits. `rehearsal/shell` reads only the text of messages. */
export const REHEARSAL_MODELS: readonly ModelEntry[] = [
  { name: 'rehearsal/echo', capabilities: { ...ALL, caching: false }, mediaTypes: [ANY_TYPE] },
  { name: 'rehearsal/script', capabilities: { ...ALL, caching: false }, mediaTypes: [ANY_TYPE] },
  {
    name: 'rehearsal/shell',
    capabilities: { tools: true, images: false, structuredOutput: true, caching: false },
    mediaTypes: [],
  },
];

/** The models that this release knows, in the order in which they are listed. */
export const BUILT_IN_MODELS: readonly ModelEntry[] = [
  ...REHEARSAL_MODELS,
  ...CLAUDE.map(([id, contextWindow, maxOutput]) => ({
    name: `anthropic/${id}`,
    contextWindow,
    maxOutput,
    capabilities: ALL,
    mediaTypes: CLAUDE_TYPES,
  })),
  ...CLAUDE_TEXT.map(([id, contextWindow, maxOutput]) => ({
    name: `anthropic/${id}`,
    contextWindow,
    maxOutput,
    capabilities: { tools: false, images: false, structuredOutput: false, caching: false },
    mediaTypes: [TEXT_TYPES],
  })),
  ...GPT.map((row) => openai(row, ALL)),
  ...OPENAI_OTHERS,
  ...cloudModels(CLAUDE, GPT),
];

function openai(
  [id, contextWindow, maxOutput]: Row,
  capabilities: ModelEntry['capabilities'],
  mediaTypes = capabilities.images ? [...IMAGE_TYPES, PDF_TYPE, TEXT_TYPES] : [TEXT_TYPES],
): ModelEntry {
  return { name: `openai/${id}`, contextWindow, maxOutput, capabilities, mediaTypes };
}
