import { escapeHtml, escapeText } from './escape.ts';

export interface MarkdownLink {
  label: string;
  url: string;
  /** The position after the link. */
  end: number;
}

/** Reads `[label](url "title")` at the position of its bracket. Undefined: none. */
export function linkAt(text: string, start: number): MarkdownLink | undefined {
  const labelEnd = closing(text, start, '[', ']');
  if (labelEnd === undefined || text[labelEnd + 1] !== '(') return undefined;
  const end = closing(text, labelEnd + 1, '(', ')');
  if (end === undefined) return undefined;
  const inner = text.slice(labelEnd + 2, end).trim();
  const [, bracketed, bare] = /^(?:<([^<>\n]*)>|(\S*))(?:\s+["'(].*)?$/s.exec(inner) ?? [];
  const url = bracketed ?? bare;
  return url === undefined ? undefined : { label: text.slice(start + 1, labelEnd), url, end: end + 1 };
}

/** Telegram ignores links to other schemes and to hosts without a dot, so their address is shown instead. */
export function linkHtml(labelHtml: string, label: string, url: string): string {
  if (isUsable(url)) return `<a href="${escapeHtml(url)}">${labelHtml || escapeText(url)}</a>`;
  if (url === '' || label === url) return labelHtml;
  return labelHtml === '' ? escapeText(url) : `${labelHtml} (${escapeText(url)})`;
}

/** Whether Telegram accepts an address in links and buttons. `tg:` addresses are excluded: they mention people. */
export function isUsable(url: string): boolean {
  if (!/^https?:\/\//i.test(url) || /\s/.test(url) || !URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return hostname.includes('.') && !hostname.startsWith('127.');
}

/** Longer labels and addresses are text. The limit keeps texts with many brackets cheap. */
const MAX_SPAN = 2_048;

/** Returns the position of the bracket that closes the one at the start. */
function closing(text: string, start: number, open: string, close: string): number | undefined {
  let depth = 0;
  const limit = Math.min(text.length, start + MAX_SPAN);
  for (let at = start; at < limit; at++) {
    const character = text[at];
    if (character === '\\') at++;
    else if (character === open) depth++;
    else if (character === close && --depth === 0) return at;
  }
  return undefined;
}
