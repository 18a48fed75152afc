import { slackBotScopes } from '../../../lib/product-permissions.ts';
import type { Canaries } from '../../support/canaries.ts';
import { type Discord, startDiscord } from '../../support/products/discord/server.ts';
import { type SlackServer, startSlack } from '../../support/products/slack/server.ts';
import { startTelegram, type Telegram } from '../../support/products/telegram/server.ts';

const SCOPES = slackBotScopes({ filesIn: true, filesOut: true, trustEmail: false });

export interface Products extends AsyncDisposable {
  slack: SlackServer;
  telegram: Telegram;
  discord: Discord;
  /** The value of SERVICE_CHANNELS_API_URLS. */
  apiUrls: string;
}

/** Starts a server of each product, and makes canaries of their tokens. */
export async function startProducts(canaries: Canaries): Promise<Products> {
  const slack = await startSlack({ scopes: SCOPES, seed: 5, retryDelaysMs: [0, 500, 500, 500] });
  const telegram = await startTelegram({ seed: 5 });
  const discord = await startDiscord({ seed: 5 });
  canaries.add('Slack bot token', slack.botToken);
  canaries.add('Slack app token', slack.appToken);
  canaries.add('Slack signing secret', slack.signingSecret);
  canaries.add('Telegram bot token', telegram.bot.token);
  canaries.add('Discord bot token', discord.application.token);
  const apiUrls = `slack=${slack.apiUrl},telegram=${telegram.apiUrl},discord=${discord.apiUrl}`;
  return {
    slack,
    telegram,
    discord,
    apiUrls,
    async [Symbol.asyncDispose]() {
      for (const server of [slack, telegram, discord]) await server[Symbol.asyncDispose]();
    },
  };
}
