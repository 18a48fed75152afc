import { type ChannelConfig, PRODUCT_NAMES, type Provider } from './channel.ts';

const ANYONE: Readonly<Record<Provider, string>> = {
  slack: 'Everyone in the Slack workspace can talk to the agent.',
  telegram: 'Everyone who finds the bot in Telegram can talk to the agent.',
  discord: 'Everyone on a Discord server with the bot can talk to the agent.',
  http: 'Everyone whom the other product names can talk to the agent.',
};

/** Facts that the creator of a channel should know. */
export function warningsOf(provider: Provider, config: ChannelConfig, callbackUrl: string): string[] {
  const { access, owner, mode } = config;
  const warnings: string[] = [];
  if (access.mode === 'anyone') {
    const cost = 'Their sessions belong to you, and each message costs you a turn.';
    warnings.push(owner === 'creator' ? `${ANYONE[provider]} ${cost}` : ANYONE[provider]);
  }
  if (access.mode !== 'linked' && owner === 'sender')
    warnings.push(
      'People without a linked account cannot talk to the agent, because each session belongs to its sender (config.owner).',
    );
  if (mode === 'http' && !callbackUrl.startsWith('https://'))
    warnings.push(
      `The callback URL does not begin with https://, so ${PRODUCT_NAMES[provider]} cannot reach it. Set SERVICE_PUBLIC_URL, or choose another config.mode.`,
    );
  return warnings;
}
