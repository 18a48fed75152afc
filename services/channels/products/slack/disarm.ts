/** Code blocks and code spans. A block without an end goes on to the end of the text. */
const CODE = /((?:^|\n)[ \t]*(`{3,}|~{3,})[\s\S]*?(?:\n[ \t]*\2|$)|(`+)[^`\n][^\n]*?\3)/;
/** The beginnings of references that notify people: groups, everyone in the channel, and users. */
const MENTION = /<(?=!(?:channel|here|everyone|group|subteam)|@[A-Z0-9]{3,})/g;
const ZERO_WIDTH_SPACE = '\u200b';

/**
 * Returns the Markdown without references that notify people. Slack reads `<!channel>` inside Markdown, too. Outside code the
 * bracket is escaped; code shows escapes as they are, so there an invisible character follows the bracket.
 */
export function disarm(markdown: string): string {
  if (!markdown.includes('<!') && !markdown.includes('<@')) return markdown;
  return segments(markdown)
    .map(({ text, isCode }) => text.replace(MENTION, isCode ? `<${ZERO_WIDTH_SPACE}` : '&lt;'))
    .join('');
}

function segments(markdown: string): { text: string; isCode: boolean }[] {
  const found: { text: string; isCode: boolean }[] = [];
  let rest = markdown;
  for (let code = CODE.exec(rest); code; code = CODE.exec(rest)) {
    found.push({ text: rest.slice(0, code.index), isCode: false }, { text: code[0], isCode: true });
    rest = rest.slice(code.index + code[0].length);
  }
  found.push({ text: rest, isCode: false });
  return found;
}
