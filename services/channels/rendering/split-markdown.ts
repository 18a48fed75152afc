interface Block {
  text: string;
  /** The opening line of the fenced code block that the text is inside of; undefined outside. */
  fence: string | undefined;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})[^\n]*$/;

/**
 * Cuts Markdown into parts of at most `maxLength`: between blocks where possible, else between lines, words and characters.
 * A code block that is cut is closed in the earlier part and opened again in the later one.
 */
export function splitMarkdown(
  markdown: string,
  maxLength: number,
  lengthOf: (markdown: string) => number,
): string[] {
  if (markdown === '') return [];
  if (lengthOf(markdown) <= maxLength) return [markdown];
  const parts: string[] = [];
  let part = '';
  const fits = (text: string) => lengthOf(text) <= maxLength;
  const flush = () => {
    if (part.trim() !== '') parts.push(part.replace(/\n+$/, ''));
    part = '';
  };
  for (const block of blocksOf(markdown)) {
    if (fits(part + block.text)) {
      part += block.text;
      continue;
    }
    flush();
    if (fits(block.text)) {
      part = block.text;
      continue;
    }
    const pieces =
      block.fence === undefined ? cutText(block.text, fits) : cutCode(block.text, block.fence, fits);
    parts.push(...pieces.slice(0, -1).map((piece) => piece.replace(/\n+$/, '')));
    part = pieces.at(-1) ?? '';
  }
  flush();
  return parts;
}

/** Paragraphs with their blank lines, and fenced code blocks, in order. Their texts together are the Markdown. */
function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let text = '';
  let fence: string | undefined;
  const end = () => {
    if (text !== '') blocks.push({ text, fence });
    text = '';
    fence = undefined;
  };
  let wasBlank = false;
  for (const line of markdown.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const bare = line.replace(/\n$/, '');
    if (fence !== undefined) {
      text += line;
      if (isClosing(bare, fence)) end();
      continue;
    }
    const isBlank = bare.trim() === '';
    if (FENCE.test(bare)) {
      end();
      fence = bare;
    } else if (wasBlank && !isBlank) end();
    wasBlank = isBlank;
    text += line;
  }
  end();
  return blocks;
}

function isClosing(line: string, opening: string): boolean {
  const [, marker = ''] = FENCE.exec(opening) ?? [];
  const bare = line.trim();
  return bare.length >= marker.length && bare === (marker[0] ?? '').repeat(bare.length);
}

function cutText(text: string, fits: (text: string) => boolean): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (!fits(rest)) {
    const longest = longestPrefix(rest, fits);
    const line = rest.lastIndexOf('\n', longest - 1) + 1;
    const word = rest.lastIndexOf(' ', longest - 1) + 1;
    const cut = line > 0 ? line : word > 0 ? word : longest;
    pieces.push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  return rest === '' ? pieces : [...pieces, rest];
}

function cutCode(block: string, opening: string, fits: (text: string) => boolean): string[] {
  const [, marker = '```'] = FENCE.exec(opening) ?? [];
  const lines = block.replace(/\n+$/, '').split('\n').slice(1);
  const last = lines.at(-1);
  if (last !== undefined && isClosing(last, opening)) lines.pop();
  const wrap = (code: string) => `${opening}\n${code.replace(/\n$/, '')}\n${marker}`;
  return cutText(lines.join('\n'), (code) => fits(wrap(code))).map((code) => `${wrap(code)}\n`);
}

/** The length of the longest prefix that fits, at least one character and never half of a surrogate pair. */
function longestPrefix(text: string, fits: (text: string) => boolean): number {
  let low = 1;
  let high = text.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(text.slice(0, middle))) low = middle;
    else high = middle - 1;
  }
  const code = text.charCodeAt(low - 1);
  const isHalf = code >= 0xd800 && code <= 0xdbff;
  if (!isHalf) return low;
  return low > 1 ? low - 1 : 2;
}
