import type { ConversationPlace } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';

/** A message of the bot. */
export interface MessageReference {
  chat: string;
  messageId: number;
}

/** Undefined for a place without a topic. */
export function topicOf({ thread }: ConversationPlace): number | undefined {
  return thread === '' ? undefined : Number(thread);
}

/** The id of a post: the id of its message. In groups it has the chat, because a group can become another chat. */
export function externalIdOf(
  { chat, messageId }: MessageReference,
  { isGroup }: Pick<ConversationPlace, 'isGroup'>,
): string {
  return isGroup ? `${chat}:${messageId}` : String(messageId);
}

export function referenceOf(externalId: string, { place }: ConversationPlace): MessageReference {
  const [last = '', chat = place] = externalId.split(':').reverse();
  return { chat, messageId: Number(last) };
}
