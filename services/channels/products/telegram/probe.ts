import type { UserFromGetMe, WebhookInfo } from 'grammy/types';
import type { ChannelCheck } from '../../../../proto/gen/ahs/deployments/v1/channels.ts';
import type { ProductChannel } from '../product.ts';
import { ProductError } from '../product-error.ts';
import type { BotApi } from './bot-api.ts';
import { COMMANDS } from './commands.ts';

/** A delivery that has failed within this time counts as a problem of the webhook. */
const RECENT_SECONDS = 10 * 60;

/** Compares the bot at Telegram with the channel. The token is the only check if Telegram refuses it. */
export async function probe(
  api: BotApi,
  channel: ProductChannel,
  now: Date,
  signal: AbortSignal,
): Promise<ChannelCheck[]> {
  let me: UserFromGetMe;
  try {
    me = await api.call((bot, apiSignal) => bot.getMe(apiSignal), signal);
  } catch (error) {
    if (!(error instanceof ProductError)) throw error;
    const isRefused = error.kind === 'unauthorized';
    return [
      check(
        'token',
        isRefused ? 'Telegram refuses the token. Copy it again from @BotFather.' : error.message,
      ),
    ];
  }
  const webhook = await api.call((bot, apiSignal) => bot.getWebhookInfo(apiSignal), signal);
  const commands = await api.call((bot, apiSignal) => bot.getMyCommands({}, apiSignal), signal);
  const names = commands.map(({ command }) => command);
  const missing = COMMANDS.filter(({ command }) => !names.includes(command));
  return [
    check('token', ''),
    ...(channel.config.respondTo === 'all' ? [check('group_privacy', privacyProblem(me))] : []),
    check(
      'groups',
      me.can_join_groups ? '' : 'Groups cannot add the bot. Send /setjoingroups to @BotFather.',
    ),
    check('webhook', webhookProblem(webhook, channel, now)),
    check(
      'commands',
      missing.length === 0 ? '' : `Missing: ${missing.map(({ command }) => `/${command}`).join(', ')}.`,
    ),
  ];
}

function check(name: string, problem: string): ChannelCheck {
  return { name, ok: problem === '', problem };
}

function privacyProblem({ can_read_all_group_messages: readsAll }: UserFromGetMe): string {
  if (readsAll) return '';
  return (
    'Privacy mode is on, so the bot receives only mentions, replies and commands in groups, except where it is an ' +
    'administrator. Send /setprivacy to @BotFather, choose Disable, and add the bot to its groups again.'
  );
}

/** Names the host of a foreign webhook only: its path can contain a secret of another program. */
function webhookProblem(webhook: WebhookInfo, { config, callbackUrl }: ProductChannel, now: Date): string {
  const url = webhook.url ?? '';
  const isForeign = url !== '' && url !== callbackUrl;
  const host = URL.canParse(url) ? new URL(url).host : 'an unknown host';
  if (isForeign)
    return `Telegram sends the updates to another address, at ${host}. Enable the channel again.`;
  if (config.mode !== 'http')
    return url === '' ? '' : 'A webhook is set, so polling receives no updates. Enable the channel again.';
  if (url === '') return 'No webhook is set. Enable the channel again.';
  const { last_error_date: date = 0, last_error_message: message = '' } = webhook;
  const isRecent = date * 1_000 > now.getTime() - RECENT_SECONDS * 1_000;
  return isRecent ? `Telegram could not deliver an update: ${message.slice(0, 200)}` : '';
}
