import type { Product, ProductContext } from '../product.ts';
import { ProductError } from '../product-error.ts';
import { BotApi } from './bot-api.ts';
import { TelegramClient } from './client.ts';
import { telegramRules } from './rules.ts';
import { openTransport } from './transport.ts';

/**
 * Telegram, over the Bot API. It offers nothing to find a message again, so a message whose answer was lost is sent again
 * and marked `maybe_duplicate`.
 */
export function createTelegramProduct(context: ProductContext): Product {
  const transport = openTransport(context.apiUrl, context.proxy);
  return {
    provider: 'telegram',
    rules: telegramRules,
    open(channel) {
      const token = channel.credentials.bot_token;
      if (!token) throw new ProductError('unauthorized', 'The channel has no bot token.');
      return new TelegramClient(context, channel, new BotApi(token, transport), transport);
    },
  };
}
