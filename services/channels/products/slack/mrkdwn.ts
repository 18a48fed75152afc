const LINK = /\[([^\][\n]+)\]\((https?:\/\/[^\s()<>|]+)\)/g;
const BOLD = /\*\*([^*\n]+)\*\*/g;

/** Escapes the control characters of Slack's texts (https://docs.slack.dev/messaging/formatting-message-text). */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * Converts links and bold text of Markdown to Slack's own markup, for places without Markdown such as response URLs. The
 * rest stays text.
 */
export function toMrkdwn(markdown: string): string {
  return escapeText(markdown)
    .replace(LINK, (_, label: string, url: string) => `<${url}|${label.replaceAll('|', '¦')}>`)
    .replace(BOLD, '*$1*');
}
