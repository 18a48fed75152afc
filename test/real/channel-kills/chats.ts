import { slackBotScopes } from '../../../lib/product-permissions.ts';
import { startDiscord } from '../../support/products/discord/server.ts';
import { startSlack } from '../../support/products/slack/server.ts';
import { startTelegram } from '../../support/products/telegram/server.ts';

/** A message of the bot as a product shows it. */
interface ShownMessage {
  /** The id that the post of the service has for it. */
  id: string;
  text: string;
}

/** A conversation of one user with the bot. */
interface Chat {
  send(text: string): void;
  /** The messages of the bot, oldest first. */
  shown(): ShownMessage[];
}

export interface ChatProduct {
  provider: 'telegram' | 'slack' | 'discord';
  credentials: Record<string, string>;
  mode: string;
  chats: Chat[];
  /** Slack repeats what was not acknowledged behind later messages. */
  keepsOrder: boolean;
  /** The next message of the bot is applied, and its response is lost. */
  loseResponse(): void;
}

export interface ChatProducts extends AsyncDisposable {
  /** The value of SERVICE_CHANNELS_API_URLS. */
  apiUrls: string;
  all: ChatProduct[];
}

const FAULTS = { rate429: 0.06, rate5xx: 0.06, appliedThenCut: 0.15 };
const APPLIED_THEN_CUT = { kind: 'applied_then_cut' } as const;
/** An event that finds no connection is repeated for a minute, which is longer than any restart. */
const SLACK_RETRIES = Array.from({ length: 120 }, () => 500);

/** Starts a server of each product with faults, and `count` chats in each. */
export async function startChatProducts(seed: number, count: number): Promise<ChatProducts> {
  const telegram = await startTelegram({ seed, faults: FAULTS });
  const scopes = slackBotScopes({ filesIn: true, filesOut: true, trustEmail: false });
  const slack = await startSlack({ seed, faults: FAULTS, scopes, retryDelaysMs: SLACK_RETRIES });
  const discord = await startDiscord({ seed, faults: FAULTS });
  const chats = (create: (index: number) => Chat) =>
    Array.from({ length: count }, (_, index) => create(index));
  return {
    apiUrls: `slack=${slack.apiUrl},telegram=${telegram.apiUrl},discord=${discord.apiUrl}`,
    all: [
      {
        ...{ provider: 'telegram', mode: 'polling', credentials: { bot_token: telegram.bot.token } },
        keepsOrder: true,
        chats: chats((index) => {
          const from = telegram.createUser({ firstName: `User ${index}` });
          const chat = telegram.privateChat(from);
          return {
            send: (text) => void telegram.post({ from, chat, text }),
            shown: () =>
              telegram
                .messages(chat)
                .filter((message) => message.from?.is_bot)
                .map(({ message_id, text = '' }) => ({ id: String(message_id), text })),
          };
        }),
        loseResponse: () => telegram.faults.enqueue('sendMessage', APPLIED_THEN_CUT),
      },
      {
        ...{ provider: 'slack', mode: 'socket', keepsOrder: false },
        credentials: {
          ...{ bot_token: slack.botToken, app_token: slack.appToken },
          signing_secret: slack.signingSecret,
        },
        chats: chats((index) => {
          const { workspace } = slack;
          const user = workspace.addUser(`user-${index}`);
          const channel = workspace.addChannel(`channel-${index}`);
          let root: string | undefined;
          return {
            send(text) {
              const thread = root === undefined ? {} : { thread: root };
              const { ts } = workspace.postAs(user, channel, text, { mention: true, ...thread });
              root ??= ts;
            },
            shown: () =>
              workspace
                .messages(channel)
                .filter(({ isBot }) => isBot)
                .map(({ ts, markdown = '' }) => ({ id: ts, text: markdown })),
          };
        }),
        loseResponse: () => slack.faults.enqueue('chat.postMessage', APPLIED_THEN_CUT),
      },
      {
        ...{ provider: 'discord', mode: 'gateway', keepsOrder: true },
        credentials: {
          ...{ bot_token: discord.application.token, application_id: discord.application.id },
          public_key: discord.application.publicKey,
        },
        chats: chats((index) => {
          const from = discord.createUser(`user-${index}`);
          const channel = discord.directChannel(from);
          return {
            send: (content) => void discord.post({ from, channel, content }),
            shown: () =>
              discord
                .messages(channel)
                .filter(({ author }) => author.bot)
                .map(({ id, content }) => ({ id, text: content })),
          };
        }),
        loseResponse: () => discord.faults.enqueue('POST /channels/:channel/messages', APPLIED_THEN_CUT),
      },
    ],
    async [Symbol.asyncDispose]() {
      for (const server of [telegram, slack, discord]) await server[Symbol.asyncDispose]();
    },
  };
}
