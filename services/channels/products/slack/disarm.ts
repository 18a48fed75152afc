import { codeSegments } from '../code-segments.ts';

/** The beginnings of references that notify people: groups, everyone in the channel, and users. */
const MENTION = /<(?=!(?:channel|here|everyone|group|subteam)|@[A-Z0-9]{3,})/g;
const ZERO_WIDTH_SPACE = '\u200b';

/**
 * Returns the Markdown without references that notify people. Slack reads `<!channel>` inside Markdown, too. Outside code the
 * bracket is escaped; code shows escapes as they are, so there an invisible character follows the bracket.
 */
export function disarm(markdown: string): string {
  if (!markdown.includes('<!') && !markdown.includes('<@')) return markdown;
  return codeSegments(markdown)
    .map(({ text, isCode }) => text.replace(MENTION, isCode ? `<${ZERO_WIDTH_SPACE}` : '&lt;'))
    .join('');
}
