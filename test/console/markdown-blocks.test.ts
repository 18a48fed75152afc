import fc from 'fast-check';
import gfm from 'remark-gfm';
import parse from 'remark-parse';
import { unified } from 'unified';
import { describe, expect, it } from 'vitest';
import { MarkdownSplitter } from '../../console/parts/text/markdown-blocks.ts';

const parser = unified().use(parse).use(gfm).freeze();

/** The parsed blocks of a text without positions, definitions and empty lines at the end of code, which show nothing. */
function parsed(text: string): unknown[] {
  const tree = JSON.parse(
    JSON.stringify(parser.parse(text), (key, value) => {
      if (key === 'position') return undefined;
      return key === 'value' ? String(value).trimEnd() : value;
    }),
  );
  return tree.children.filter(({ type }: { type: string }) => type !== 'definition');
}

/** Splits a text that grows by `step` characters at a time. */
function streamed(text: string, step = 1): string[] {
  const splitter = new MarkdownSplitter();
  for (let end = step; end < text.length; end += step) splitter.split(text.slice(0, end), false);
  return splitter.split(text, true);
}

const FENCE = '```js\nconst a = 1;\n\n# no heading\n\n- no list\n```\n';
const LIST = '- one\n\n  more of one\n\n  ```\n  code\n\n  more code\n  ```\n- two\n  1. deep\n';
const TABLE = '| a | b |\n| - | - |\n| 1 | 2 |\n';

describe('MarkdownSplitter', () => {
  it.each([
    ['paragraphs and headings', 'one\ntwo\n\n# Title\nthree\n\nfour\n====\n', 3],
    ['a fenced code block with empty lines', `before\n\n${FENCE}\nafter\n`, 3],
    ['a code fence without an end', 'before\n\n~~~\n\n# no heading\n\n', 2],
    ['a list with paragraphs and code', `before\n\n${LIST}\nafter\n`, 3],
    ['a loose numbered list', '1. one\n\n2. two\n\n3. three\n\nafter', 2],
    ['a table', `before\n\n${TABLE}\nafter\n`, 3],
    ['a quotation with a list', '> - one\n>\n> - two\n\nafter\n', 2],
    ['an HTML comment with empty lines', '<!-- one\n\n# no heading\n\n-->\n\nafter\n', 2],
    ['indented code with empty lines', 'before\n\n    one\n\n    two\n\nafter\n', 3],
    ['line breaks of Windows', 'one\r\n\r\n- two\r\n\r\n  more\r\n\r\nthree', 3],
  ])('keeps %s together', (_, text, blocks) => {
    for (const step of [1, 7]) {
      const found = streamed(text, step);
      expect(found.join('')).toBe(text);
      expect(found).toHaveLength(blocks);
      expect(found.flatMap(parsed)).toEqual(parsed(text));
    }
  });

  it('returns each finished block unchanged while the text grows', () => {
    const text = `# Title\n\n${LIST}\n${FENCE}\n${TABLE}\nlast`;
    const splitter = new MarkdownSplitter();
    let before: string[] = [];
    for (let end = 1; end <= text.length; end++) {
      const blocks = splitter.split(text.slice(0, end), false);
      expect(blocks.join('')).toBe(text.slice(0, end));
      expect(blocks.slice(0, Math.max(0, before.length - 1))).toEqual(before.slice(0, -1));
      before = blocks;
    }
    expect(splitter.split(text, true)).toHaveLength(5);
  });

  it('does not finish a list before its next line is complete', () => {
    const splitter = new MarkdownSplitter();
    expect(splitter.split('- a\n*', false)).toHaveLength(1);
    expect(splitter.split('- a\n**bold** of the list\n', false)).toHaveLength(1);
  });

  it('adds the link definitions of other blocks to the blocks that use them', () => {
    const text =
      'See [the Guide][], [a][Two\nwords] and [none][no].\n\nOther text.\n\n' +
      '> [the guide]: https://example.com/guide\n\n[two words]: <https://example.com/2> "Title"\n' +
      '[the guide]: https://example.com/second\n';
    const blocks = streamed(text);
    expect(blocks.flatMap(parsed).slice(0, 2)).toEqual(parsed(text).slice(0, 2));
    expect(blocks[1]).toBe('\nOther text.\n');
    expect(JSON.stringify(blocks.slice(0, 1).flatMap(parsed))).toContain('linkReference');
  });

  it('returns a complete text with footnotes as one block', () => {
    const text = 'One[^1].\n\nTwo.\n\n[^1]: The note.\n';
    expect(streamed(text)).toEqual([text]);
  });

  it('starts again when the text does not continue the earlier text', () => {
    const splitter = new MarkdownSplitter();
    splitter.split('one\n\ntwo\n\n', false);
    expect(splitter.split('1\n\n2\n\n3', true)).toEqual(['1\n', '\n2\n', '\n3']);
  });

  it('has the blocks of the whole text for any sequence of lines', () => {
    // Without list items that are empty or do not start at 1: the parser takes them for text after indented code.
    const line = fc.constantFrom(
      ...['', '', '', 'text', '**bold**', '- a', '  b', '* c', '1. d', '   e', '    f', '```', '   ```'],
      ...['~~~~', '# h', '===', '---', '> q', '>', '| a | b |', '| - | - |', '<!-- c', '-->', '<div>'],
      ...['</div>', '\tg', '- ```', '  ```', '- > x', '[x][y]', '***', '- - -', '+ i', '1) j'],
    );
    const lines = fc.array(line, { maxLength: 14 });
    fc.assert(
      fc.property(lines, fc.integer({ min: 1, max: 9 }), (parts, step) => {
        const text = parts.join('\n');
        const blocks = streamed(text, step);
        expect(blocks.join('')).toBe(text);
        expect(blocks.flatMap(parsed)).toEqual(parsed(text));
      }),
      { numRuns: 300 },
    );
  });
});
