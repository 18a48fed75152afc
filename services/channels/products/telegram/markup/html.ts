import { escapeHtml, plainTextOf } from './escape.ts';
import { inlineHtml } from './inline.ts';
import { isTable, tableHtml } from './table.ts';

const FENCE = /^(\s*)(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/;
const HEADING = /^ {0,3}#{1,6}\s+(.*?)(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^(\s*)(?:([-*+])|(\d{1,9})[.)])\s+(?:\[([ xX])\]\s+)?(.*)$/;
const BLANK = /^\s*$/;

/**
 * Converts Markdown to the HTML subset of Telegram (https://core.telegram.org/bots/api#html-style). Headings are bold, lists
 * are lines with bullets, and tables are aligned text. The result is always valid, and its usernames notify no one.
 */
export function toTelegramHtml(markdown: string): string {
  return blocksHtml(markdown.replace(/\r\n?/g, '\n').split('\n'), false);
}

/** The length that Telegram limits: UTF-16 code units of the text without its tags. */
export function lengthOfMarkdown(markdown: string): number {
  return plainTextOf(toTelegramHtml(markdown)).length;
}

interface Block {
  html: string;
  /** The line after the block. */
  next: number;
}

function blocksHtml(lines: readonly string[], isQuoted: boolean): string {
  let html = '';
  let isAfterBlank = false;
  for (let at = 0; at < lines.length; ) {
    if (BLANK.test(lines[at] ?? '')) {
      isAfterBlank = true;
      at++;
      continue;
    }
    const block = blockAt(lines, at, isQuoted);
    const separator = html === '' ? '' : isAfterBlank ? '\n\n' : '\n';
    html += separator + block.html;
    isAfterBlank = false;
    at = block.next;
  }
  return html;
}

function blockAt(lines: readonly string[], at: number, isQuoted: boolean): Block {
  const line = lines[at] ?? '';
  const fence = FENCE.exec(line);
  if (fence) return codeBlock(lines, at, fence);
  if (RULE.test(line)) return { html: '———', next: at + 1 };
  const heading = HEADING.exec(line)?.[1];
  if (heading !== undefined) return { html: `<b>${inlineHtml(heading, ['b'])}</b>`, next: at + 1 };
  if (QUOTE.test(line)) return quote(lines, at, isQuoted);
  if (isTable(line, lines[at + 1])) {
    const next = endOf(lines, at + 2, (other) => !BLANK.test(other) && other.includes('|'));
    return { html: tableHtml(lines.slice(at, next)), next };
  }
  const next = endOf(lines, at + 1, (other, index) => isText(other, lines[index + 1]));
  const [first = '', ...others] = lines.slice(at, next);
  const text = (start: string) => inlineHtml([start, ...others.map((other) => other.trim())].join('\n'));
  const item = ITEM.exec(line);
  if (!item) return { html: text(first.trim()), next };
  const [, indent = '', , number, checked, content = ''] = item;
  const box = checked === undefined ? undefined : checked === ' ' ? '☐' : '☑';
  const marker = number === undefined ? (box ?? '•') : `${number}.${box ? ` ${box}` : ''}`;
  const width = indent.replaceAll('\t', '    ').length;
  return { html: `${' '.repeat(Math.min(width, 12))}${marker} ${text(content)}`, next };
}

/** A line that continues the paragraph or list item before it. */
function isText(line: string, following: string | undefined): boolean {
  const starts = [BLANK, FENCE, RULE, HEADING, QUOTE, ITEM].some((pattern) => pattern.test(line));
  return !starts && !isTable(line, following);
}

function endOf(
  lines: readonly string[],
  from: number,
  isPart: (line: string, index: number) => boolean,
): number {
  let end = from;
  while (end < lines.length && isPart(lines[end] ?? '', end)) end++;
  return end;
}

/** A block without an end reaches to the end of the text, as while it is streamed. */
function codeBlock(lines: readonly string[], at: number, fence: RegExpExecArray): Block {
  const [, indent = '', marker = '', language = ''] = fence;
  const isClosing = (line: string) => {
    const bare = line.trim();
    return bare.length >= marker.length && bare === (marker[0] ?? '').repeat(bare.length);
  };
  const end = endOf(lines, at + 1, (line) => !isClosing(line));
  const content = lines.slice(at + 1, end).map((line) => withoutIndent(line, indent.length));
  const code = escapeHtml(content.join('\n'));
  const isNamed = /^[\w+#.-]{1,40}$/.test(language);
  const inner = isNamed ? `<code class="language-${language}">${code}</code>` : code;
  return { html: `<pre>${inner}</pre>`, next: end + 1 };
}

function withoutIndent(line: string, width: number): string {
  const indent = /^ */.exec(line)?.[0].length ?? 0;
  return line.slice(Math.min(indent, width));
}

/** Telegram has no quotations within quotations. */
function quote(lines: readonly string[], at: number, isQuoted: boolean): Block {
  const next = endOf(lines, at, (line) => QUOTE.test(line));
  const inner = lines.slice(at, next).map((line) => line.replace(/^(?: {0,3}> ?)+/, ''));
  const html = blocksHtml(inner, true);
  return { html: isQuoted || html === '' ? html : `<blockquote>${html}</blockquote>`, next };
}
