/** The characters that have a meaning in Telegram's HTML (https://core.telegram.org/bots/api#html-style). */
const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** A username that Telegram would notify. An e-mail address contains none. */
const MENTION = /(?<![\p{L}\p{N}_])@(?=[a-z0-9_]{2})/giu;
/** An invisible character that allows no line break. */
const WORD_JOINER = '\u2060';

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => REFERENCES[character] ?? character);
}

/** Escapes text outside of code and addresses, in which usernames have no effect. */
export function escapeText(text: string): string {
  return escapeHtml(text.replace(MENTION, `@${WORD_JOINER}`));
}

/** The text of HTML that these functions have made. */
export function plainTextOf(html: string): string {
  return html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}
