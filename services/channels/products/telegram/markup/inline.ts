import { escapeHtml, escapeText } from './escape.ts';
import { linkAt, linkHtml } from './links.ts';

type Style = 'b' | 'i' | 's' | 'a';

/** The styles that surround a text. A style within itself has no effect, which also limits the depth of recursion. */
export type Styles = readonly Style[];

interface Delimiter {
  marker: string;
  style: Style;
}

/** Longer ones first. */
const DELIMITERS: readonly Delimiter[] = [
  { marker: '**', style: 'b' },
  { marker: '__', style: 'b' },
  { marker: '~~', style: 's' },
  { marker: '*', style: 'i' },
  { marker: '_', style: 'i' },
];
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const WORD = /[\p{L}\p{N}_]/u;
const REFERENCES: Readonly<Record<string, string>> = {
  ...{ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&nbsp;': '\u00a0' },
};
/** A text without these characters has no markup. */
const PLAIN = /[^\\`[!<&*_~h]+|h(?!ttps?:\/\/)/y;
const BARE_URL = /https?:\/\/[^\s<>"`]+/y;
const AUTOLINK = /<(https?:\/\/[^\s<>]*)>/y;
const LINE_BREAK = /<br *\/?>/iy;
const REFERENCE = /&(?:amp|lt|gt|quot|nbsp);/y;

/** Converts the Markdown within a block to Telegram's HTML. Each tag that it opens is closed. */
export function inlineHtml(text: string, styles: Styles = []): string {
  let html = '';
  let plain = '';
  let at = 0;
  // A marker that was not closed once is not closed later either.
  const unclosed = new Set<string>();
  const add = (piece: string, end: number) => {
    html += escapeText(plain) + piece;
    plain = '';
    at = end;
  };
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };

  while (at < text.length) {
    const run = match(PLAIN);
    if (run) {
      plain += run[0];
      at += run[0].length;
      continue;
    }
    const character = text[at] ?? '';
    const next = text[at + 1] ?? '';
    if (character === '\\' && PUNCTUATION.test(next)) {
      plain += next;
      at += 2;
      continue;
    }
    const code = character === '`' ? codeAt(text, at, unclosed) : undefined;
    if (code) {
      add(`<code>${escapeHtml(code.content)}</code>`, code.end);
      continue;
    }
    const isImage = character === '!' && next === '[';
    const mayLink = (character === '[' || isImage) && !styles.includes('a');
    const link = mayLink ? linkAt(text, at + (isImage ? 1 : 0)) : undefined;
    if (link) {
      const label = inlineHtml(link.label, [...styles, 'a']);
      add(linkHtml(label, link.label, link.url), link.end);
      continue;
    }
    const found = character === '<' ? match(AUTOLINK) : character === 'h' ? match(BARE_URL) : undefined;
    if (found) {
      // Telegram finds addresses in text by itself.
      add(escapeHtml(found[1] ?? found[0]), at + found[0].length);
      continue;
    }
    const lineBreak = character === '<' ? match(LINE_BREAK) : undefined;
    if (lineBreak) {
      add('\n', at + lineBreak[0].length);
      continue;
    }
    const reference = character === '&' ? match(REFERENCE) : undefined;
    if (reference) {
      plain += REFERENCES[reference[0]] ?? reference[0];
      at += reference[0].length;
      continue;
    }
    const span = spanAt(text, at, styles, unclosed);
    if (span) {
      const inner = inlineHtml(span.content, [...styles, span.style]);
      add(`<${span.style}>${inner}</${span.style}>`, span.end);
      continue;
    }
    // The whole run of markers is text, so that a part of it opens nothing.
    const markers = /^([*_~`])\1*/.exec(text.slice(at, at + 100))?.[0] ?? character;
    plain += markers;
    at += markers.length;
  }
  return html + escapeText(plain);
}

function codeAt(text: string, start: number, unclosed: Set<string>) {
  const [marker = '`'] = /^`+/.exec(text.slice(start)) ?? [];
  if (unclosed.has(marker)) return undefined;
  for (let at = text.indexOf(marker, start + marker.length); at >= 0; ) {
    let end = at;
    while (text[end] === '`') end++;
    if (end - at === marker.length) {
      const content = text.slice(start + marker.length, at);
      const isPadded = /^ .* $/s.test(content) && content.trim() !== '';
      return { content: isPadded ? content.slice(1, -1) : content, end };
    }
    at = text.indexOf(marker, end);
  }
  unclosed.add(marker);
  return undefined;
}

function spanAt(text: string, start: number, styles: Styles, unclosed: Set<string>) {
  for (const { marker, style } of DELIMITERS) {
    if (!text.startsWith(marker, start)) continue;
    if (styles.includes(style) || unclosed.has(marker)) continue;
    const content = start + marker.length;
    if (!isOpening(text, start, content, marker)) continue;
    const end = closingOf(text, content, marker);
    if (end !== undefined) return { style, content: text.slice(content, end), end: end + marker.length };
    unclosed.add(marker);
  }
  return undefined;
}

function isOpening(text: string, start: number, content: number, marker: string): boolean {
  if (/^(\s|$)/.test(text.slice(content, content + 1))) return false;
  // snake_case has no emphasis.
  return !marker.startsWith('_') || !WORD.test(text[start - 1] ?? '');
}

/** Returns the position of the marker that ends the span. */
function closingOf(text: string, from: number, marker: string): number | undefined {
  const character = marker[0] ?? '';
  const unclosedCode = new Set<string>();
  for (let at = from; at < text.length; ) {
    if (text[at] === '\\') {
      at += 2;
      continue;
    }
    const code = text[at] === '`' ? codeAt(text, at, unclosedCode) : undefined;
    if (code) {
      at = code.end;
      continue;
    }
    if (text[at] !== character) {
      at++;
      continue;
    }
    let end = at;
    while (text[end] === character) end++;
    const length = end - at;
    const closes = marker.length === 1 ? length !== 2 : length >= 2;
    const isAfterText = at > from && !/\s/.test(text[at - 1] ?? '');
    const isInWord = character === '_' && WORD.test(text[end] ?? '');
    if (closes && isAfterText && !isInWord) return end - marker.length;
    at = end;
  }
  return undefined;
}
