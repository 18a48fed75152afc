import { sha256 } from '../../../../lib/digest.ts';
import type { PostApproval } from '../../../../proto/gen/ahs/deployments/v1/channels.ts';
import type { ProductPost } from '../product.ts';
import { toDiscordMarkdown } from './markup.ts';
import { MAX_LENGTH } from './rules.ts';

const ACTION_ROW = 1;
const BUTTON = 2;
const STYLES = { success: 3, danger: 4, link: 5 };
/** Links in answers have no previews. */
const SUPPRESS_EMBEDS = 1 << 2;
export const EPHEMERAL = 1 << 6;
/** The longest nonce (https://discord.com/developers/docs/resources/message#create-message). */
const MAX_NONCE = 25;

const NO_MENTIONS = { parse: [] };

/** The members of a new message. Discord creates one message for a nonce, however often it is sent within some minutes. */
export function newMessage(post: Pick<ProductPost, 'postId' | 'revision' | 'markdown' | 'approval'>) {
  return { ...messageContent(post), ...onceFor(post), flags: SUPPRESS_EMBEDS };
}

/** The first message of a thread is in the parent channel, where messages of the thread cannot reply to it. */
export function referenceOf({ replyTo, place }: Pick<ProductPost, 'replyTo' | 'place'>) {
  if (replyTo === undefined || replyTo.messageId === place.thread) return {};
  return { message_reference: { message_id: replyTo.messageId, fail_if_not_exists: false } };
}

/** The members of a message that an edit replaces. */
export function messageContent({ markdown, approval }: Pick<ProductPost, 'markdown' | 'approval'>) {
  return {
    content: textOf(markdown),
    allowed_mentions: NO_MENTIONS,
    components: approval ? buttonsOf(approval) : [],
  };
}

/** A message that only the person sees who has clicked or sent the command. */
export function privateAnswer(markdown: string) {
  return { content: textOf(markdown), allowed_mentions: NO_MENTIONS, flags: EPHEMERAL };
}

export function onceFor(post: Pick<ProductPost, 'postId' | 'revision'>) {
  return { nonce: nonceOf(post), enforce_nonce: true };
}

/** Discord refuses the nonce of a deleted message with Unknown Message, so a post that is created again has a new one. */
export function nonceOf({ postId, revision }: Pick<ProductPost, 'postId' | 'revision'>): string {
  return sha256(`${postId} ${revision}`).slice(0, MAX_NONCE);
}

/** A text of the worker can be longer than a message, such as an answer with a list. */
function textOf(markdown: string): string {
  const text = toDiscordMarkdown(markdown);
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 1).toWellFormed()}…`;
}

/** services/deployments/channels/products/decisions.ts reads the custom ids. */
function buttonsOf({ approvalId, canAllow, consoleUrl, decision }: PostApproval): object[] {
  if (decision !== '') return [];
  const deny = button('Deny', STYLES.danger, { custom_id: `deny:${approvalId}` });
  const allow = canAllow
    ? [button('Allow', STYLES.success, { custom_id: `allow:${approvalId}` })]
    : consoleUrl !== ''
      ? [button('Open the console', STYLES.link, { url: consoleUrl })]
      : [];
  return [{ type: ACTION_ROW, components: [...allow, deny] }];
}

function button(label: string, style: number, target: { custom_id: string } | { url: string }): object {
  return { type: BUTTON, style, label, ...target };
}
