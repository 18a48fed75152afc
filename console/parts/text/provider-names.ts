const NAMES: Readonly<Record<string, string>> = {
  slack: 'Slack',
  telegram: 'Telegram',
  discord: 'Discord',
  http: 'HTTP',
};

/** The display name of a messaging product. */
export const providerName = (provider: string) => NAMES[provider] ?? provider;
