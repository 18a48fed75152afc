import type { ChannelConfig, Provider } from './channel.ts';

/** The members of an event that decide whether it is for the agent. */
interface ChannelEvent {
  /** message, command or action */
  kind: string;
  place: { thread: string; isGroup: boolean };
  mentionsBot: boolean;
  repliesToBot: boolean;
}

/**
 * Whether an event is for the agent. `if_known`: if the bot takes part in its conversation, which only the database knows.
 */
export type Addressee = 'agent' | 'if_known' | 'others';

/** Products whose threads belong to one conversation. A topic of Telegram is a place for many. */
const WITH_THREADS: readonly Provider[] = ['slack', 'discord'];

/** Products in which several people write in one conversation and a message can reply to another one. */
const WITH_REPLIES: readonly Provider[] = ['telegram', 'discord'];

/** Whether answers in groups reply to the message that began their turn. */
export function hasReplies(provider: Provider): boolean {
  return WITH_REPLIES.includes(provider);
}

/** In groups, only mentions, replies to the bot and its threads count, unless the channel responds to all messages. */
export function addresseeOf(
  { kind, place, mentionsBot, repliesToBot }: ChannelEvent,
  { respondTo }: Pick<ChannelConfig, 'respondTo'>,
  provider: Provider,
): Addressee {
  if (kind === 'action' || !place.isGroup || mentionsBot || repliesToBot) return 'agent';
  if (respondTo === 'all') return 'agent';
  return place.thread !== '' && WITH_THREADS.includes(provider) ? 'if_known' : 'others';
}

/**
 * The key of the conversation of an event: its thread, topic, chat or direct message. With `perChat` false, each sender in a
 * group has a conversation of their own.
 */
export function conversationOf(
  { place, senderId }: { place: { place: string; thread: string; isGroup: boolean }; senderId: string },
  { perChat }: Pick<ChannelConfig, 'perChat'>,
  provider: Provider,
): string {
  // A thread of Discord is a place of its own: its messages do not always name the channel.
  const parts = provider === 'discord' && place.thread !== '' ? [place.thread] : [place.place];
  if (provider !== 'discord' && place.thread !== '') parts.push(place.thread);
  if (!perChat && place.isGroup) parts.push(senderId);
  return parts.join(':');
}
