import { type Block, checkBlocks, MARKDOWN_TEXT } from '../blocks.ts';
import { SlackError } from '../error.ts';
import type { MessageMetadata } from '../workspace.ts';
import type { CallContext } from './method.ts';

/** Longer texts of new messages are cut without an error. */
const POSTED_TEXT = 40_000;
/** `chat.update` refuses longer texts. The limit counts bytes. */
const UPDATED_TEXT_BYTES = 4_000;
const METADATA_BYTES = 4_000;

export interface MessageContent {
  text?: string;
  markdown?: string;
  blocks?: Block[];
  linksNames: boolean;
}

/** Reads text, markdown_text and blocks. Throws a SlackError. */
export function contentOf({ args, workspace }: CallContext, operation: 'post' | 'update'): MessageContent {
  const text = args.text('text');
  const markdown = args.text('markdown_text');
  const given = args.structure('blocks', 'invalid_blocks_format');
  const linksNames = args.flag('link_names') || args.text('parse') === 'full';
  if (markdown !== undefined) {
    if (text || given !== undefined) throw new SlackError('markdown_text_conflict');
    if (markdown === '') throw new SlackError('no_text');
    if (markdown.length > MARKDOWN_TEXT) throw new SlackError('msg_too_long');
    // Slack renders the text into rich_text blocks. Their inner form is of no use for tests.
    const blocks = [{ type: 'rich_text', block_id: workspace.ids.hex(5), elements: [] }];
    return { text: markdown, markdown, blocks, linksNames };
  }
  const blocks = given === undefined ? undefined : checkBlocks(given, () => workspace.ids.hex(5));
  if (!text && !blocks?.length) throw new SlackError('no_text');
  if (operation === 'update' && Buffer.byteLength(text ?? '') > UPDATED_TEXT_BYTES)
    throw new SlackError('msg_too_long');
  return {
    ...(text !== undefined && { text: text.slice(0, POSTED_TEXT) }),
    ...(blocks && { blocks }),
    linksNames,
  };
}

/** Reads metadata: undefined if the argument is absent, null for an empty object. Throws a SlackError. */
export function metadataOf({ args }: CallContext): MessageMetadata | null | undefined {
  const value = args.structure('metadata', 'invalid_metadata_format');
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || value === null) throw new SlackError('invalid_metadata_format');
  if (Object.keys(value).length === 0) return null;
  const { event_type, event_payload } = value as Partial<MessageMetadata>;
  if (typeof event_type !== 'string' || typeof event_payload !== 'object' || event_payload === null)
    throw new SlackError('invalid_metadata_format');
  if (JSON.stringify(value).length > METADATA_BYTES) throw new SlackError('metadata_too_large');
  return { event_type, event_payload };
}
