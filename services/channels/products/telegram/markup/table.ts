import { escapeHtml, plainTextOf } from './escape.ts';
import { inlineHtml } from './inline.ts';

const SEPARATOR = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

export function isTable(header: string, separator: string | undefined): boolean {
  return header.includes('|') && separator?.includes('|') === true && SEPARATOR.test(separator);
}

/** Telegram has no tables, so the columns are aligned in a block of equally wide characters. */
export function tableHtml([header = '', , ...rows]: readonly string[]): string {
  const cells = [header, ...rows].map(cellsOf);
  const count = Math.max(...cells.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, column) =>
    Math.max(...cells.map((row) => [...(row[column] ?? '')].length)),
  );
  const lines = cells.map((row) =>
    widths
      .map((width, column) => pad(row[column] ?? '', width))
      .join(' | ')
      .trimEnd(),
  );
  const rule = widths.map((width) => '-'.repeat(width)).join('-|-');
  const [first = '', ...others] = lines;
  return `<pre>${escapeHtml([first, rule, ...others].join('\n'))}</pre>`;
}

function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => plainTextOf(inlineHtml(cell.trim())));
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(width - [...text].length);
}
