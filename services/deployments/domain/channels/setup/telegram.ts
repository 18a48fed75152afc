import { credential } from './credential-labels.ts';
import { botOf, plainText, type SetupFacts, type SetupStep, step } from './step.ts';

const BOT_FATHER_URL = 'https://t.me/BotFather';

export function telegramSteps(facts: SetupFacts): SetupStep[] {
  const { config, credentialNames, identity, connectionState, hasDelivery } = facts;
  const username = identity?.name ?? '';
  return [
    step(
      'create_bot',
      'Send /newbot to @BotFather in Telegram, and choose a name and a username that ends with bot.',
      credentialNames.includes('bot_token'),
      { url: BOT_FATHER_URL, ...plainText('/newbot') },
    ),
    step('tokens', `Set the token that @BotFather sends as ${credential('bot_token')}.`, identity !== null, {
      url: BOT_FATHER_URL,
    }),
    ...(config.respondTo === 'all'
      ? [
          step(
            'group_privacy',
            'Send /setprivacy to @BotFather, choose the bot and then Disable, so that it receives all messages of groups that add it afterwards.',
            hasDelivery,
            { url: BOT_FATHER_URL, ...plainText('/setprivacy') },
          ),
        ]
      : []),
    step(
      'connect',
      config.mode === 'http'
        ? 'Wait until the webhook is registered at Telegram.'
        : 'Wait until the channel receives the updates of Telegram.',
      connectionState === 'connected',
    ),
    step(
      'first_message',
      `Write a message to ${botOf(facts)}, or add it to a group and mention it.`,
      hasDelivery,
      {
        ...(username ? { url: `https://t.me/${encodeURIComponent(username)}` } : {}),
      },
    ),
  ];
}
