import type { BotCommand } from 'grammy/types';
import { commandsKey } from '../bots.ts';
import { badRequest, conflict } from '../errors.ts';
import { MAX_DOWNLOAD_BYTES } from '../files.ts';
import type { Parameters } from '../parameters.ts';
import type { UpdateQueue, UpdateType } from '../updates.ts';
import { findChat, type Method } from './context.ts';

const MAX_SECRET_TOKEN = 256;
const DEFAULT_CONNECTIONS = 40;

export const getMe: Method = ({ bot }) => bot.user;

/** Remembers the types for later requests that name none. An empty list restores the default. */
function readAllowedUpdates(parameters: Parameters, updates: UpdateQueue): void {
  const types = parameters.object('allowed_updates');
  if (Array.isArray(types)) updates.allowed = types.length === 0 ? undefined : (types as UpdateType[]);
}

export const getUpdates: Method = ({ bot, parameters, signal }) => {
  if (bot.webhook.settings)
    throw conflict(
      "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
    );
  readAllowedUpdates(parameters, bot.updates);
  return bot.updates.poll(
    {
      offset: parameters.integer('offset') ?? 0,
      limit: parameters.integer('limit'),
      timeoutSeconds: parameters.integer('timeout'),
    },
    signal,
  );
};

export const setWebhook: Method = ({ bot, parameters }) => {
  const url = parameters.text('url') ?? '';
  if (parameters.isTrue('drop_pending_updates')) bot.updates.clear();
  readAllowedUpdates(parameters, bot.updates);
  if (url === '') {
    bot.webhook.remove();
    return true;
  }
  const secretToken = parameters.text('secret_token') || undefined;
  if (!URL.canParse(url)) throw badRequest('invalid webhook URL specified');
  if (!isAcceptable(new URL(url))) throw badRequest('bad webhook: An HTTPS URL must be provided for webhook');
  if ((secretToken?.length ?? 0) > MAX_SECRET_TOKEN) throw badRequest('secret token is too long');
  if (secretToken !== undefined && !/^[A-Za-z0-9_-]*$/.test(secretToken))
    throw badRequest('secret token contains unallowed characters');
  bot.updates.abortPoll('terminated by setWebhook request');
  const maxConnections = parameters.integer('max_connections') ?? DEFAULT_CONNECTIONS;
  bot.webhook.set({ url, secretToken, maxConnections });
  return true;
};

/** The product accepts HTTPS only. Tests listen on loopback without TLS. */
const isAcceptable = ({ protocol, hostname }: URL) => protocol === 'https:' || hostname === '127.0.0.1';

export const deleteWebhook: Method = ({ bot, parameters }) => {
  if (parameters.isTrue('drop_pending_updates')) bot.updates.clear();
  bot.webhook.remove();
  return true;
};

export const getWebhookInfo: Method = ({ bot }) => bot.webhook.info();

export const getFile: Method = ({ state, parameters }) => {
  const { file_id, file_unique_id, file_size, path } = state.files.get(parameters.text('file_id') ?? '');
  if (file_size > MAX_DOWNLOAD_BYTES) throw badRequest('file is too big');
  return { file_id, file_unique_id, file_size, file_path: state.overrides.filePath ?? path };
};

export const setMyCommands: Method = ({ bot, parameters }) => {
  const commands = parameters.object('commands');
  if (!Array.isArray(commands)) throw badRequest("can't parse commands JSON object");
  for (const { command, description } of commands as BotCommand[]) {
    if (!/^\/?[a-z0-9_]{1,32}$/.test(command)) throw badRequest('BOT_COMMAND_INVALID');
    if (typeof description !== 'string' || description.length < 1 || description.length > 256)
      throw badRequest('BOT_COMMAND_DESCRIPTION_INVALID');
  }
  bot.commands.set(commandsKey(parameters.object('scope'), parameters.text('language_code')), commands);
  return true;
};

export const deleteMyCommands: Method = ({ bot, parameters }) => {
  bot.commands.delete(commandsKey(parameters.object('scope'), parameters.text('language_code')));
  return true;
};

export const getMyCommands: Method = ({ bot, parameters }) =>
  bot.commands.get(commandsKey(parameters.object('scope'), parameters.text('language_code'))) ?? [];

export const getChat: Method = (call) => {
  const { chat } = findChat(call);
  return { ...chat, accent_color_id: 0, max_reaction_count: 11, accepted_gift_types: NO_GIFTS };
};

const NO_GIFTS = {
  unlimited_gifts: false,
  limited_gifts: false,
  unique_gifts: false,
  premium_subscription: false,
  gifts_from_channels: false,
};
