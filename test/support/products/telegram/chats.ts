import type { Chat, Message, User } from 'grammy/types';
import type { BotAccount } from './bots.ts';
import { commandsIn, mentions } from './entities.ts';
import type { FormattedText } from './html.ts';

export type TelegramChat = Chat.PrivateChat | Chat.GroupChat | Chat.SupergroupChat;

export interface StoredChat {
  chat: TelegramChat;
  messages: Map<number, Message>;
  nextMessageId: number;
  /** Names of the forum topics by thread id. */
  topics: Map<number, string>;
  /** Users by id, with administrators. */
  members: Map<number, { user: User; isAdministrator: boolean }>;
  bots: Set<BotAccount>;
  /** Bots that the user has blocked or that were removed from the group. */
  barred: Set<BotAccount>;
  lastBot: BotAccount | undefined;
  migratedTo: number | undefined;
}

export function createChat(chat: TelegramChat): StoredChat {
  return {
    chat,
    messages: new Map(),
    // Ids count within a chat, so that messages of different chats have equal ids.
    nextMessageId: chat.type === 'supergroup' ? 2 : 1,
    topics: new Map(),
    members: new Map(),
    bots: new Set(),
    barred: new Set(),
    lastBot: undefined,
    migratedTo: undefined,
  };
}

export interface MessagePlace {
  replyTo?: Message | undefined;
  /** The thread id of a forum topic. */
  topic?: number | undefined;
}

/** Stores a message and returns it. It is delivered to bots separately. */
export function addMessage(
  stored: StoredChat,
  from: User,
  date: number,
  { replyTo, topic }: MessagePlace,
  content: Partial<Message>,
): Message {
  const { chat } = stored;
  const thread = threadOf(chat, replyTo, topic);
  // A message in a topic that replies to no other one replies to the service message that created the topic.
  const repliedTo = replyTo ?? (topic === undefined ? undefined : stored.messages.get(topic));
  const message = {
    message_id: stored.nextMessageId++,
    from,
    chat,
    date,
    ...thread,
    ...(repliedTo && { reply_to_message: withoutReply(repliedTo) }),
    ...content,
  } as Message;
  stored.messages.set(message.message_id, message);
  return message;
}

/**
 * Only `is_topic_message` marks a forum topic: a reply in a supergroup without topics also has a `message_thread_id`, the id
 * of the first message of the replies.
 */
function threadOf(
  chat: TelegramChat,
  replyTo: Message | undefined,
  topic: number | undefined,
): Partial<Message> {
  if (topic !== undefined) return { message_thread_id: topic, is_topic_message: true };
  if (replyTo?.is_topic_message)
    return { message_thread_id: replyTo.message_thread_id ?? 0, is_topic_message: true };
  if (chat.type !== 'supergroup' || !replyTo || chat.is_forum) return {};
  return { message_thread_id: replyTo.message_thread_id ?? replyTo.message_id };
}

function withoutReply(message: Message): Message['reply_to_message'] {
  const { reply_to_message: _, ...rest } = message;
  return rest as Message['reply_to_message'];
}

export function formattedText({ text, entities, caption, caption_entities }: Message): FormattedText {
  return { text: text ?? caption ?? '', entities: entities ?? caption_entities ?? [] };
}

/**
 * Whether a bot receives a message of a user. With privacy mode, a bot that is no administrator of the group receives commands
 * that name it, commands that name no bot if it was the last bot to write, mentions and replies to its messages.
 * Every bot receives the messages about another id of the group.
 */
export function isVisible(bot: BotAccount, stored: StoredChat, message: Message): boolean {
  if (!stored.bots.has(bot) || stored.barred.has(bot)) return false;
  const isAdministrator = stored.members.get(bot.user.id)?.isAdministrator ?? false;
  const isMigration = (message.migrate_to_chat_id ?? message.migrate_from_chat_id) !== undefined;
  if (
    isMigration ||
    stored.chat.type === 'private' ||
    bot.user.can_read_all_group_messages ||
    isAdministrator
  )
    return true;
  const content = formattedText(message);
  const name = bot.user.username.toLowerCase();
  return (
    message.reply_to_message?.from?.id === bot.user.id ||
    mentions(bot.user, content) ||
    commandsIn(content).some(({ addressee }) =>
      addressee === undefined ? stored.lastBot === bot || stored.bots.size === 1 : addressee === name,
    )
  );
}

/** Delivers a message of a user to the bots of its chat. */
export function deliver(stored: StoredChat, type: 'message' | 'edited_message', message: Message): void {
  for (const bot of stored.bots) {
    // The update is a copy: later edits do not change it.
    if (isVisible(bot, stored, message)) bot.updates.add(type, { [type]: structuredClone(message) });
  }
}
