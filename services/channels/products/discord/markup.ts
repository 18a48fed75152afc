import { codeSegments } from '../code-segments.ts';

const TABLE =
  /^[ \t]*\|.*\|[ \t]*\n[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?[ \t]*)?(?:\n[ \t]*\|.*\|[ \t]*)*/gm;
const INVISIBLE = /[\s\u200b-\u200f\u2060\ufeff]/g;
const NOTHING_VISIBLE = '…';
const ZERO_WIDTH_SPACE = '\u200b';
/** The signs before the names of everyone, users and roles. */
const MENTION = /@(?=everyone|here|[!&]?\d{5,}>)/g;

/**
 * Converts Markdown to that of Discord, which has no tables, images, rules, and headings below the third level. Discord
 * refuses texts without a visible character.
 */
export function toDiscordMarkdown(markdown: string): string {
  const converted = codeSegments(markdown)
    .map(({ text, isCode }) => (isCode ? text : convert(text)))
    .join('');
  return converted.replace(INVISIBLE, '') === '' ? NOTHING_VISIBLE : converted;
}

/**
 * Returns the Markdown without mentions. Messages also forbid Discord to notify anybody; without the invisible character a
 * mention would still look like one.
 */
export function disarm(markdown: string): string {
  return markdown.replace(MENTION, `@${ZERO_WIDTH_SPACE}`);
}

function convert(text: string): string {
  return text
    .replace(TABLE, (table) => `\`\`\`\n${table}\n\`\`\``)
    .replace(/^#{4,6}[ \t]+(.{1,300}?)[ \t]*#*$/gm, '**$1**')
    .replace(/^[ \t]*(?:\*[ \t]*){3,}$|^[ \t]*(?:_[ \t]*){3,}$|^[ \t]*(?:-[ \t]*){3,}$/gm, '───')
    .replace(
      /!\[([^\]\n]{0,300})\]\(([^)\s]{1,2000})[^)\n]{0,300}\)/g,
      (_, name: string, url: string) => `[${name || url}](${url})`,
    );
}
