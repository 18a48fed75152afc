const REFERENCE = /<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>/g;
const ESCAPES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };

/** Whether the text mentions the bot, as `<@U…>` or `<@U…|name>`. */
export function mentionsUser(text: string, userId: string): boolean {
  return userId !== '' && (text.includes(`<@${userId}>`) || text.includes(`<@${userId}|`));
}

/**
 * Returns the text of a message without Slack's markup of references and without a mention of the bot at its beginning
 * (https://docs.slack.dev/messaging/formatting-message-text).
 */
export function plainText(text: string, botId: string): string {
  const withoutMention = mentionsUser(text, botId) ? text.replace(leadingMention(botId), '') : text;
  return withoutMention
    .replace(REFERENCE, (_, sign: string, target: string, label: string | undefined) =>
      reference(sign, target, label),
    )
    .replace(/&(?:amp|lt|gt);/g, (entity) => ESCAPES[entity] ?? entity)
    .trim();
}

function leadingMention(botId: string): RegExp {
  return new RegExp(`^\\s*<@${botId.replace(/\W/g, '\\$&')}(?:\\|[^<>]*)?>[\\s,:]*`);
}

function reference(sign: string, target: string, label: string | undefined): string {
  if (sign === '@' || sign === '#') return `${sign}${label || target}`;
  if (sign === '!') return label || `@${target.replace(/^subteam\^/, '')}`;
  return label && label !== target ? `${label} (${target})` : target;
}
