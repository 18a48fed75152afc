import { invalid, SlackError } from './error.ts';

export interface Block extends Record<string, unknown> {
  type: string;
  block_id?: string;
}

interface Element {
  type: string;
  action_id?: string;
  text?: { type: string; text: string };
  value?: string;
  url?: string;
  style?: string;
}

const BLOCK_TYPES = new Set([
  ...['actions', 'context', 'context_actions', 'divider', 'file', 'header', 'image', 'input', 'markdown'],
  ...['rich_text', 'section', 'table', 'video'],
]);
const MAX_BLOCKS = 50;
const MAX_ELEMENTS = 25;
/** The limit of a text in a section (https://docs.slack.dev/reference/block-kit/blocks/section-block). */
const SECTION_TEXT = 3_000;
const HEADER_TEXT = 150;
const BUTTON_TEXT = 75;
const BUTTON_VALUE = 2_000;
const ACTION_ID = 255;
/** The limit of `markdown_text` and of a markdown block. */
export const MARKDOWN_TEXT = 12_000;
/** The text of all blocks together. The documentation does not state this limit; it was measured at 13,202. */
const ALL_TEXT = 13_200;

/** Checks blocks as Slack does and returns them with a block_id each. Throws a SlackError. */
export function checkBlocks(value: unknown, newBlockId: () => string): Block[] {
  if (!Array.isArray(value)) throw new SlackError('invalid_blocks_format');
  const problems: string[] = [];
  const limit = (text: unknown, most: number, pointer: string) => {
    if (typeof text !== 'string') problems.push(`missing required field [json-pointer:${pointer}]`);
    else if (text.length > most)
      problems.push(`must be less than ${most + 1} characters [json-pointer:${pointer}]`);
  };
  if (value.length > MAX_BLOCKS) problems.push('no more than 50 items allowed [json-pointer:/blocks]');
  const blocks = value as Block[];
  blocks.forEach((block, index) => {
    const pointer = `/blocks/${index}`;
    const text = (block.text ?? {}) as { text?: string };
    if (!BLOCK_TYPES.has(block?.type))
      problems.push(`unsupported type: ${block?.type} [json-pointer:${pointer}/type]`);
    else if (block.type === 'section' && block.text !== undefined)
      limit(text.text, SECTION_TEXT, `${pointer}/text/text`);
    else if (block.type === 'header') limit(text.text, HEADER_TEXT, `${pointer}/text/text`);
    else if (block.type === 'actions') checkElements(block.elements, pointer, problems, limit);
  });
  if (problems.length > 0) throw invalid('invalid_blocks', ...problems);
  for (const { type, text } of blocks)
    if (type === 'markdown' && String(text).length > MARKDOWN_TEXT) throw new SlackError('msg_too_long');
  if (textOf(blocks).length > ALL_TEXT) throw new SlackError('msg_blocks_too_long');
  return blocks.map((block) => ({ block_id: newBlockId(), ...block }));
}

function checkElements(
  value: unknown,
  block: string,
  problems: string[],
  limit: (text: unknown, most: number, pointer: string) => void,
): void {
  const elements = Array.isArray(value) ? (value as Element[]) : [];
  if (elements.length === 0) problems.push(`must contain at least 1 item [json-pointer:${block}/elements]`);
  if (elements.length > MAX_ELEMENTS)
    problems.push(`no more than 25 items allowed [json-pointer:${block}/elements]`);
  const seen = new Set<string>();
  elements.forEach((element, index) => {
    const pointer = `${block}/elements/${index}`;
    if (element.type === 'button') {
      limit(element.text?.text, BUTTON_TEXT, `${pointer}/text/text`);
      if (element.text?.type !== 'plain_text')
        problems.push(`must be a valid enum value [json-pointer:${pointer}/text/type]`);
      if (element.value !== undefined) limit(element.value, BUTTON_VALUE, `${pointer}/value`);
    }
    if (element.action_id === undefined) return;
    limit(element.action_id, ACTION_ID, `${pointer}/action_id`);
    if (seen.has(element.action_id))
      problems.push(`\`action_id\` ${element.action_id} already exists [json-pointer:${pointer}/action_id]`);
    seen.add(element.action_id);
  });
}

/** The text of all blocks, without the text of buttons. */
function textOf(blocks: readonly Block[]): string {
  return blocks
    .map(({ text }) =>
      typeof text === 'string' ? text : ((text as { text?: string } | undefined)?.text ?? ''),
    )
    .join('');
}

/** Returns the button with this action_id and the id of its block. */
export function findButton(
  blocks: readonly Block[] | undefined,
  actionId: string,
): { element: Element; blockId: string } | undefined {
  for (const block of blocks ?? []) {
    const elements = [
      ...((block.elements ?? []) as Element[]),
      ...(block.accessory ? [block.accessory as Element] : []),
    ];
    const element = elements.find(({ action_id }) => action_id === actionId);
    if (element) return { element, blockId: block.block_id ?? '' };
  }
  return undefined;
}
