import type { ChannelIdentity } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { ProductChannel } from '../product.ts';
import { ProductError } from '../product-error.ts';
import type { BotApi } from './bot-api.ts';
import { ALLOWED_UPDATES, COMMANDS } from './commands.ts';

/** Returns the bot. Its name is its username, without which Telegram creates no bot. */
export async function readIdentity(api: BotApi, signal: AbortSignal): Promise<ChannelIdentity> {
  const { id, username } = await api.call((bot, apiSignal) => bot.getMe(apiSignal), signal);
  return { botId: String(id), botProfileId: '', name: username, appId: '', teamId: '', teamName: '' };
}

/** Updates that wait at Telegram are kept in both modes. */
export async function register(api: BotApi, channel: ProductChannel, signal: AbortSignal): Promise<void> {
  const { config, callbackUrl, credentials } = channel;
  if (config.mode === 'http') {
    const secret = credentials.webhook_secret;
    if (!secret) throw new ProductError('unauthorized', 'The channel has no secret for its webhook.');
    await api.setWebhook(callbackUrl, secret, ALLOWED_UPDATES, signal);
  } else await removeWebhook(api, signal);
  await api.call((bot, apiSignal) => bot.setMyCommands([...COMMANDS], {}, apiSignal), signal);
}

/** A webhook that another program has set meanwhile stays. */
export async function unregister(
  api: BotApi,
  { callbackUrl }: ProductChannel,
  signal: AbortSignal,
): Promise<void> {
  const { url } = await api.call((bot, apiSignal) => bot.getWebhookInfo(apiSignal), signal);
  if (url === callbackUrl) await removeWebhook(api, signal);
  await api.call((bot, apiSignal) => bot.deleteMyCommands({}, apiSignal), signal);
}

async function removeWebhook(api: BotApi, signal: AbortSignal): Promise<void> {
  await api.call((bot, apiSignal) => bot.deleteWebhook({ drop_pending_updates: false }, apiSignal), signal);
}
