import type { Message } from 'grammy/types';
import type { BotAccount } from '../bots.ts';
import type { StoredChat } from '../chats.ts';
import { detectEntities, trimmed } from '../entities.ts';
import { badRequest, forbidden, TelegramError } from '../errors.ts';
import type { FileStore } from '../files.ts';
import { type FormattedText, parseHtml } from '../html.ts';
import type { Parameters } from '../parameters.ts';

/** The chats and files that all bots of a server share. */
export interface TelegramState {
  groups: Map<number, StoredChat>;
  files: FileStore;
  now(): Date;
  overrides: TelegramOverrides;
  /** The answers to clicks. */
  answered: { queryId: string; text: string | undefined; showAlert: boolean }[];
}

/** Values that responses have instead of the right ones, to test that a client refuses them. */
export interface TelegramOverrides {
  /** The `file_path` of getFile. */
  filePath?: string;
  /** Downloads redirect to this URL. */
  downloadLocation?: string;
}

export interface MethodCall {
  bot: BotAccount;
  state: TelegramState;
  parameters: Parameters;
  /** Aborts when the client closes the connection. */
  signal: AbortSignal;
}

/** Executes a method and returns its result. */
export type Method = (call: MethodCall) => unknown;

export const seconds = (date: Date) => Math.floor(date.getTime() / 1000);

/** Returns the chat that the request names. Refuses unknown chats and chats in which the bot must not write. */
export function findChat({ bot, state, parameters }: MethodCall): StoredChat {
  const id = parameters.text('chat_id');
  if (id === undefined || id === '') throw badRequest('chat_id is empty');
  const stored = state.groups.get(Number(id)) ?? bot.privateChats.get(Number(id));
  if (!stored) {
    const isSeen = [...state.groups.values()].some(
      (group) => group.bots.has(bot) && group.members.has(Number(id)),
    );
    throw isSeen ? forbidden("bot can't initiate conversation with a user") : badRequest('chat not found');
  }
  const { type } = stored.chat;
  if (stored.migratedTo !== undefined)
    throw new TelegramError(400, 'Bad Request: group chat was upgraded to a supergroup chat', {
      migrate_to_chat_id: stored.migratedTo,
    });
  if (stored.barred.has(bot))
    throw forbidden(
      type === 'private' ? 'bot was blocked by the user' : `bot was kicked from the ${type} chat`,
    );
  if (!stored.bots.has(bot)) throw badRequest('chat not found');
  return stored;
}

/** Returns the message of the bot that a request changes. */
export function findOwnMessage(call: MethodCall, stored: StoredChat, action: 'edit' | 'delete'): Message {
  const message = stored.messages.get(call.parameters.integer('message_id') ?? 0);
  if (!message) throw badRequest(`message to ${action} not found`);
  if (message.from?.id !== call.bot.user.id)
    throw badRequest(action === 'edit' ? "message can't be edited" : "message can't be deleted");
  return message;
}

const MAX_TEXT = 4096;
const MAX_CAPTION = 1024;

/** Returns the text of a request with its entities, or undefined for none. Limits count after parsing. */
export function readText(parameters: Parameters, field: 'text' | 'caption'): FormattedText | undefined {
  const source = parameters.text(field);
  if (source === undefined) return undefined;
  const mode = parameters.text('parse_mode')?.toLowerCase() ?? '';
  if (mode !== '' && mode !== 'html') throw badRequest('unsupported parse_mode');
  const given = mode === '' ? { text: source, entities: readEntities(parameters, field) } : parseHtml(source);
  const content = trimmed(given);
  if ([...content.text].length > (field === 'text' ? MAX_TEXT : MAX_CAPTION))
    throw badRequest(field === 'text' ? 'message is too long' : 'message caption is too long');
  return { text: content.text, entities: detectEntities(content) };
}

function readEntities(parameters: Parameters, field: 'text' | 'caption'): FormattedText['entities'] {
  const entities = parameters.object(field === 'text' ? 'entities' : 'caption_entities');
  return Array.isArray(entities) ? entities : [];
}
