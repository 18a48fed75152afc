import type { CallbackQuery, Chat, InlineKeyboardButton, Message, User } from 'grammy/types';
import type { BotAccount } from './bots.ts';
import {
  addMessage,
  createChat,
  deliver,
  type MessagePlace,
  type StoredChat,
  type TelegramChat,
} from './chats.ts';
import { detectEntities } from './entities.ts';
import { seconds, type TelegramState } from './methods/context.ts';

export interface PostedFile {
  name: string;
  type: string;
  bytes: Uint8Array;
  /** A photo has no name and arrives as `photo` with a thumbnail. Default: a document. */
  isPhoto?: boolean;
}

export interface TelegramPost extends MessagePlace {
  from: User;
  chat: TelegramChat;
  /** With a file, the caption. */
  text?: string;
  file?: PostedFile;
}

/** Acts as the users of the product. Every action takes effect at once and delivers updates to the bots that may see it. */
export interface TelegramWorld {
  createUser(user: { firstName: string; username?: string }): User;
  /** The private chat of a user with a bot (default: the first bot). The user has started the bot. */
  privateChat(user: User, bot?: BotAccount): Chat.PrivateChat;
  /** A group with these users and bots (default: all bots). Group administrators see all messages. */
  createGroup(title: string, users: User[], options?: { bots?: BotAccount[] }): Chat.GroupChat;
  createSupergroup(
    title: string,
    users: User[],
    options?: { bots?: BotAccount[]; isForum?: boolean },
  ): Chat.SupergroupChat;
  /** Creates a forum topic and returns its thread id. */
  createTopic(chat: Chat.SupergroupChat, name: string, by: User): number;
  /** Replaces a group by a supergroup. Requests to the group are refused with the new id. */
  upgrade(chat: Chat.GroupChat): Chat.SupergroupChat;
  /** Makes a bot an administrator of a group, which ends its privacy mode there. */
  promote(bot: BotAccount, chat: TelegramChat): void;
  /** The user of a private chat blocks the bot, or a group removes it. `isBarred: false` reverts this. */
  bar(bot: BotAccount, chat: TelegramChat, isBarred?: boolean): void;
  post(post: TelegramPost): Message;
  edit(message: Message, text: string): Message;
  /** Clicks a button of an inline keyboard by its text. Returns the id of the callback query. */
  click(from: User, message: Message, button: string): string;
  /** The messages of a chat as its users see them now, oldest first. `topic` selects those of a forum topic. */
  messages(chat: TelegramChat, topic?: number): Message[];
}

export interface WorldParts {
  bots: BotAccount[];
  state: TelegramState;
  random: () => number;
}

/** An administrator who acts as the group. */
const ANONYMOUS: User = { id: 1_087_968_824, is_bot: true, first_name: 'Group' };

export function createTelegramWorld({ bots, state, random }: WorldParts): TelegramWorld {
  const date = () => seconds(state.now());
  let nextUserId = 100_000 + Math.floor(random() * 100_000);
  let nextGroupId = 1 + Math.floor(random() * 1_000);

  function find(chat: TelegramChat): StoredChat {
    const privateChats = bots.map((bot) => bot.privateChats.get(chat.id));
    const stored =
      state.groups.get(chat.id) ??
      privateChats.find((one) => one?.chat === chat) ??
      privateChats.find(Boolean);
    if (!stored) throw new Error(`unknown chat ${chat.id}`);
    return stored;
  }

  function addGroup<T extends TelegramChat>(chat: T, users: User[], members: BotAccount[]): T {
    const stored = createChat(chat);
    for (const user of users) stored.members.set(user.id, { user, isAdministrator: false });
    for (const bot of members) stored.bots.add(bot);
    state.groups.set(chat.id, stored);
    return chat;
  }

  function contentOf({ text, file }: TelegramPost): Partial<Message> {
    const entities = text === undefined ? [] : detectEntities({ text, entities: [] });
    if (!file) return { ...(text !== undefined && { text }), ...(entities.length > 0 && { entities }) };
    return {
      ...(file.isPhoto ? storePhoto(file.bytes) : storeDocument(file)),
      ...(text !== undefined && { caption: text }),
      ...(entities.length > 0 && { caption_entities: entities }),
    };
  }

  function storeFile(folder: string, name: string, bytes: Uint8Array) {
    const { path: _, bytes: __, ...reference } = state.files.put(folder, name, bytes);
    return reference;
  }
  function storeDocument({ name, type, bytes }: PostedFile): Partial<Message> {
    return { document: { ...storeFile('documents', name, bytes), file_name: name, mime_type: type } };
  }
  /** The last size is the largest. */
  function storePhoto(bytes: Uint8Array): Partial<Message> {
    const thumbnail = storeFile('thumbnails', 'a.jpg', Buffer.from('thumbnail'));
    return {
      photo: [
        { ...thumbnail, width: 90, height: 90 },
        { ...storeFile('photos', 'a.jpg', bytes), width: 800, height: 800 },
      ],
    };
  }

  function buttonOf(message: Message, text: string): InlineKeyboardButton {
    const buttons = message.reply_markup?.inline_keyboard.flat() ?? [];
    const button = buttons.find((one) => one.text === text);
    if (!button) throw new Error(`no button "${text}" among ${buttons.map((one) => one.text).join(', ')}`);
    return button;
  }

  const first = () => {
    const [bot] = bots;
    if (!bot) throw new Error('the server has no bot');
    return bot;
  };

  return {
    createUser: ({ firstName, username }) => ({
      id: nextUserId++,
      is_bot: false,
      first_name: firstName,
      ...(username !== undefined && { username }),
      language_code: 'en',
    }),
    privateChat(user, bot = first()) {
      const known = bot.privateChats.get(user.id)?.chat;
      if (known?.type === 'private') return known;
      const { id, first_name, username } = user;
      const chat: Chat.PrivateChat = {
        id,
        type: 'private',
        first_name,
        ...(username !== undefined && { username }),
      };
      const stored = createChat(chat);
      stored.bots.add(bot);
      bot.privateChats.set(id, stored);
      return chat;
    },
    createGroup: (title, users, options) =>
      addGroup({ id: -nextGroupId++, type: 'group', title }, users, options?.bots ?? bots),
    createSupergroup(title, users, { bots: members = bots, isForum = false } = {}) {
      const id = -1_000_000_000_000 - nextGroupId++;
      return addGroup({ id, type: 'supergroup', title, ...(isForum && { is_forum: true }) }, users, members);
    },
    createTopic(chat, name, by) {
      const stored = find(chat);
      const thread = stored.nextMessageId;
      addMessage(
        stored,
        by,
        date(),
        {},
        {
          message_thread_id: thread,
          is_topic_message: true,
          forum_topic_created: { name, icon_color: 7_322_096 },
        },
      );
      stored.topics.set(thread, name);
      return thread;
    },
    upgrade(chat) {
      const old = find(chat);
      const users = [...old.members.values()].map(({ user }) => user);
      const id = -1_000_000_000_000 - nextGroupId++;
      old.migratedTo = id;
      const supergroup = addGroup({ id, type: 'supergroup', title: chat.title }, users, [...old.bots]);
      const [by = ANONYMOUS] = users;
      const tell = (stored: StoredChat, content: Partial<Message>) =>
        deliver(stored, 'message', addMessage(stored, by, date(), {}, content));
      tell(old, { migrate_to_chat_id: id });
      tell(find(supergroup), { migrate_from_chat_id: chat.id });
      return supergroup;
    },
    promote(bot, chat) {
      find(chat).members.set(bot.user.id, { user: bot.user, isAdministrator: true });
    },
    bar(bot, chat, isBarred = true) {
      const { barred } = find(chat);
      if (isBarred) barred.add(bot);
      else barred.delete(bot);
    },
    post(post) {
      const stored = find(post.chat);
      const message = addMessage(stored, post.from, date(), post, contentOf(post));
      deliver(stored, 'message', message);
      return structuredClone(message);
    },
    edit({ chat, message_id }, text) {
      const stored = find(chat as TelegramChat);
      const message = stored.messages.get(message_id);
      if (!message) throw new Error(`no message ${message_id}`);
      message.entities = undefined;
      Object.assign(message, contentOf({ from: first().user, chat: stored.chat, text }), {
        edit_date: date(),
      });
      deliver(stored, 'edited_message', message);
      return structuredClone(message);
    },
    click(from, { chat, message_id }, text) {
      const stored = find(chat as TelegramChat);
      const message = stored.messages.get(message_id);
      if (!message) throw new Error(`no message ${message_id}`);
      const bot = bots.find(({ user }) => user.id === message.from?.id) ?? first();
      const button = buttonOf(message, text);
      const id = String(Math.floor(random() * 2 ** 52));
      bot.openQueries.add(id);
      const query: CallbackQuery = {
        id,
        from,
        message: structuredClone(message),
        chat_instance: String(Math.abs(chat.id)),
        ...('callback_data' in button && { data: button.callback_data }),
      };
      bot.updates.add('callback_query', { callback_query: query });
      return id;
    },
    messages(chat, topic) {
      const isService = (one: Message) =>
        one.forum_topic_created ?? one.migrate_to_chat_id ?? one.migrate_from_chat_id;
      const all = [...find(chat).messages.values()].filter((one) => !isService(one));
      const chosen = topic === undefined ? all : all.filter((one) => one.message_thread_id === topic);
      return structuredClone(chosen);
    },
  };
}
