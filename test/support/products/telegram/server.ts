import { type Clock, systemClock } from '../../../../lib/clock.ts';
import { seeded } from '../../../chaos/random.ts';
import { createFaultPlan, type FaultPlan, type FaultRates } from '../faults.ts';
import { type ProductServer, startProductServer } from '../http-server.ts';
import { createTelegramApi, type TelegramRequest } from './api.ts';
import type { BotAccount } from './bots.ts';
import { createFileStore, type FileStore } from './files.ts';
import type { TelegramOverrides, TelegramState } from './methods/context.ts';
import { createUpdateQueue } from './updates.ts';
import { createWebhookPusher } from './webhook.ts';
import { createTelegramWorld, type TelegramWorld } from './world.ts';

const SEND_METHODS = ['sendMessage', 'sendDocument'];

export interface TelegramOptions {
  /** Seed of ids, tokens and faults. Default: 1. */
  seed?: number;
  /** Shares of random faults. Default: none. */
  faults?: FaultRates;
  clock?: Clock;
  /** The duration of a second in the retry schedule of webhooks, in milliseconds. Default: 1,000. */
  retrySecondMs?: number;
  /** How many messages a bot may send to a chat in one second; the next one is refused with 429. Default: no limit. */
  messagesPerSecond?: number;
}

export interface Telegram extends AsyncDisposable, TelegramWorld {
  /** The root of the Bot API and of files: `apiRoot` of grammY, `telegram=…` in `SERVICE_CHANNELS_API_URLS`. */
  apiUrl: string;
  /** The bot that exists from the start, with privacy mode. */
  bot: BotAccount;
  createBot(options?: { username?: string; readsAllMessages?: boolean }): BotAccount;
  /** Replaces the token of a bot, as `/revoke` of BotFather does. The old one is refused with 401. */
  revokeToken(bot: BotAccount): string;
  faults: FaultPlan;
  files: FileStore;
  /** All requests of bots in the order of their arrival. */
  requests: readonly TelegramRequest[];
  /** The answers to clicks. */
  answered: TelegramState['answered'];
  /** Changes take effect at once. */
  overrides: TelegramOverrides;
  /** Ends all connections, also in the middle of a long poll. */
  closeConnections(): void;
}

/**
 * Starts a server that speaks Telegram's Bot API on a free port of 127.0.0.1.
 *
 * ```ts
 * await using telegram = await startTelegram({ seed: 7, faults: { appliedThenCut: 0.1 } });
 * // The system under test: bot token telegram.bot.token, SERVICE_CHANNELS_API_URLS=telegram=<telegram.apiUrl>
 * const ada = telegram.createUser({ firstName: 'Ada', username: 'ada' });
 * const chat = telegram.privateChat(ada); // or createGroup, createSupergroup with isForum and createTopic
 * telegram.post({ from: ada, chat, text: '/start' });
 * telegram.post({ from: ada, chat, text: 'Read this', file: { name: 'a.txt', type: 'text/plain', bytes } });
 * const answer = await until('the bot answers', () => telegram.messages(chat).find((one) => one.from?.is_bot));
 * const queryId = telegram.click(ada, answer, 'Allow'); // telegram.answered has its answer
 * ```
 *
 * - Updates leave by getUpdates or by the webhook that the bot sets. `bot.updates.pending` lists those that have not been
 *   confirmed, `bot.webhook.pushes` the attempts.
 * - `telegram.messages(chat)` shows the current text, buttons and files. A duplicate send is a second message: the product
 *   offers nothing to recognise it.
 * - In a group, the bot receives only mentions (`@<bot.user.username>`), replies to it and commands, unless it was created
 *   with `readsAllMessages` or is promoted.
 * - A fault plan acts on methods by their documented names: `telegram.faults.enqueue('sendMessage', { kind: 'applied_then_cut' })`.
 *   Duplicated deliveries are pushes that a webhook receives again. Held ones let pushes of other chats overtake them;
 *   those of one chat keep their order.
 *   Downloads of files are `download`.
 * - `telegram.overrides` names other paths and foreign addresses of files, which a client must refuse or call without a token.
 * - MarkdownV2 and media other than documents and photos are not supported.
 */
export async function startTelegram(options: TelegramOptions = {}): Promise<Telegram> {
  const { seed = 1, clock = systemClock, retrySecondMs = 1000 } = options;
  const faults = createFaultPlan(seed, options.faults);
  const random = seeded(seed);
  const bots: BotAccount[] = [];
  const requests: TelegramRequest[] = [];
  const state: TelegramState = {
    groups: new Map(),
    files: createFileStore(random),
    now: () => clock.now(),
    answered: [],
    overrides: {},
  };
  const sent = new Map<string, number[]>();

  function floodWait(bot: BotAccount, method: string, chatId: string): number | undefined {
    if (options.messagesPerSecond === undefined || !SEND_METHODS.includes(method)) return undefined;
    const key = `${bot.user.id} ${chatId}`;
    const now = clock.now().getTime();
    const recent = (sent.get(key) ?? []).filter((time) => time > now - 1000);
    const isOver = recent.length >= options.messagesPerSecond;
    sent.set(key, isOver ? recent : [...recent, now]);
    return isOver ? 1 : undefined;
  }

  const api = createTelegramApi({ bots, state, faults, requests, floodWait });
  const newToken = (id: number) =>
    `${id}:AA${Array.from({ length: 33 }, () => Math.floor(random() * 36).toString(36)).join('')}`;

  function createBot({
    username = `agent_${bots.length + 1}_bot`,
    readsAllMessages = false,
  } = {}): BotAccount {
    const id = 7_000_000_000 + Math.floor(random() * 100_000_000);
    const updates = createUpdateQueue(clock, 1 + Math.floor(random() * 1_000_000_000));
    const bot: BotAccount = {
      user: {
        id,
        is_bot: true,
        first_name: 'Agent',
        username,
        can_join_groups: true,
        can_read_all_group_messages: readsAllMessages,
        supports_inline_queries: false,
        can_connect_to_business: false,
        has_main_web_app: false,
        has_topics_enabled: false,
        allows_users_to_create_topics: false,
        can_manage_bots: false,
        supports_join_request_queries: false,
      },
      token: newToken(id),
      updates,
      webhook: createWebhookPusher({
        updates,
        clock,
        faults,
        retrySecondMs,
        execute: (values) => api.executeReply(bot, values),
      }),
      privateChats: new Map(),
      commands: new Map(),
      openQueries: new Set(),
    };
    bots.push(bot);
    return bot;
  }

  const bot = createBot();
  const server: ProductServer = await startProductServer({ handle: api.handle });
  return {
    ...createTelegramWorld({ bots, state, random }),
    apiUrl: server.url,
    bot,
    createBot,
    revokeToken(revoked) {
      revoked.token = newToken(revoked.user.id);
      return revoked.token;
    },
    faults,
    files: state.files,
    requests,
    answered: state.answered,
    overrides: state.overrides,
    closeConnections: server.closeConnections,
    async [Symbol.asyncDispose]() {
      for (const one of bots) one.webhook.remove();
      await server[Symbol.asyncDispose]();
    },
  };
}
