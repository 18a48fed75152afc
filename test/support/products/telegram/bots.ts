import type { BotCommand, UserFromGetMe } from 'grammy/types';
import type { StoredChat } from './chats.ts';
import type { UpdateQueue } from './updates.ts';
import type { WebhookPusher } from './webhook.ts';

/** A bot as its server knows it. */
export interface BotAccount {
  user: UserFromGetMe;
  token: string;
  updates: UpdateQueue;
  webhook: WebhookPusher;
  /** Private chats by user id. */
  privateChats: Map<number, StoredChat>;
  /** Commands by scope and language, as `commandsKey` writes them. */
  commands: Map<string, BotCommand[]>;
  /** Callback queries that wait for their answer, by id. */
  openQueries: Set<string>;
}

export function commandsKey(scope: unknown, language: string | undefined): string {
  return JSON.stringify([scope ?? { type: 'default' }, language ?? '']);
}
