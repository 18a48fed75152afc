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

/** The id of a post: the id of its message, with the chat if that is not the place of the conversation. */
export function externalIdOf({ chat, messageId }: MessageReference, { place }: ConversationPlace): string {
  return chat === place ? String(messageId) : `${chat}:${messageId}`;
}

export function referenceOf(externalId: string, { place }: ConversationPlace): MessageReference {
  const [last = '', chat = place] = externalId.split(':').reverse();
  return { chat, messageId: Number(last) };
}
