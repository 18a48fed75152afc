import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  lengthOfMarkdown,
  toTelegramHtml,
} from '../../../../../services/channels/products/telegram/markup/html.ts';
import { detectEntities } from '../../../../support/products/telegram/entities.ts';
import { parseHtml } from '../../../../support/products/telegram/html.ts';

/** Pieces that form valid and broken Markdown. */
const PIECE = fc.constantFrom(
  ...['*', '**', '***', '_', '__', '~~', '`', '``', '```', '```js\n', '~~~', '[', ']', '](', '(', ')', '!['],
  ...[
    'https://example.com/a_b*c',
    'http://localhost:8080',
    '<https://example.com>',
    'tg://user?id=1',
    '<',
    '>',
    '&',
  ],
  ...[
    '&lt;',
    '<b>',
    '</b>',
    '<br>',
    '"',
    '\\',
    '\n',
    '\n\n',
    '> ',
    '>> ',
    '# ',
    '- ',
    '  - [x] ',
    '1. ',
    '---',
    '|',
  ],
  ...[
    '\n|-|-|\n',
    'word',
    ' ',
    '@ada_lovelace',
    'ada@example.com',
    'snake_case_name',
    '😀',
    'é',
    '\t',
    '\r\n',
  ],
);
const MARKDOWN = fc.oneof(
  fc.array(PIECE, { maxLength: 60 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary', maxLength: 200 }),
);

describe('toTelegramHtml', () => {
  it('makes HTML that Telegram accepts, whose length is known and that mentions no one', () => {
    fc.assert(
      fc.property(MARKDOWN, (markdown) => {
        const content = parseHtml(toTelegramHtml(markdown));
        expect(content.text.length).toBe(lengthOfMarkdown(markdown));
        const types = detectEntities(content).map(({ type }) => type);
        expect(types).not.toContain('mention');
        expect(types).not.toContain('text_mention');
        expect(
          content.entities.filter((one) => one.type === 'text_link').map(({ url }) => url),
        ).not.toContainEqual(expect.stringMatching(/^tg:/));
      }),
      { numRuns: 1_500, seed: 22 },
    );
  });

  it('never nests quotations or puts markup into code', () => {
    fc.assert(
      fc.property(MARKDOWN, (markdown) => {
        const html = toTelegramHtml(markdown);
        expect(html).not.toMatch(/<blockquote>(?:(?!<\/blockquote>).)*<blockquote>/s);
        const code = [...html.matchAll(/<code[^>]*>(.*?)<\/code>/gs)].map(([, content]) => content);
        for (const content of code) expect(content).not.toMatch(/[<>]/);
      }),
      { numRuns: 500, seed: 23 },
    );
  });

  it.each([
    ['**bold** and *italic* and ~~gone~~', '<b>bold</b> and <i>italic</i> and <s>gone</s>'],
    ['***both***', '<b><i>both</i></b>'],
    ['**bold with *italic* inside**', '<b>bold with <i>italic</i> inside</b>'],
    ['snake_case_name and 2 * 3 * 4', 'snake_case_name and 2 * 3 * 4'],
    ['use `a < b` and ``a ` b``', 'use <code>a &lt; b</code> and <code>a ` b</code>'],
    ['**open and `code', '**open and `code'],
    ['a & b <script>', 'a &amp; b &lt;script&gt;'],
    ['\\*not italic\\*', '*not italic*'],
    [
      '[a **b**](https://example.com/?x=1&y="2")',
      '<a href="https://example.com/?x=1&amp;y=&quot;2&quot;">a <b>b</b></a>',
    ],
    ['[console](http://localhost:8080/s/1)', 'console (http://localhost:8080/s/1)'],
    ['[me](tg://user?id=1)', 'me (tg://user?id=1)'],
    ['![plan](https://example.com/p.png)', '<a href="https://example.com/p.png">plan</a>'],
    ['see https://example.com/a_b_c', 'see https://example.com/a_b_c'],
    ['# Title\ntext', '<b>Title</b>\ntext'],
    ['- a\n- b\n  - c\n1. d\n- [x] e', '• a\n• b\n  • c\n1. d\n☑ e'],
    ['> one\n>> two\n\nafter', '<blockquote>one\ntwo</blockquote>\n\nafter'],
    ['```ts\nif (a < b) {}\n```\nend', '<pre><code class="language-ts">if (a &lt; b) {}</code></pre>\nend'],
    ['```\nstill streaming', '<pre>still streaming</pre>'],
    ['a\n\n\n\nb\n***\nc', 'a\n\nb\n———\nc'],
    ['| a | **b** |\n|---|:-:|\n| 1 | x\\|y |', '<pre>a | b\n--|----\n1 | x|y</pre>'],
    ['ask @ada_lovelace or ada@example.com', 'ask @\u2060ada_lovelace or ada@example.com'],
    ['`@types/node`', '<code>@types/node</code>'],
  ])('converts %j', (markdown, html) => {
    expect(toTelegramHtml(markdown)).toBe(html);
  });

  it('takes time in proportion to the length of hostile text', () => {
    const start = performance.now();
    for (const piece of ['*a ', '_a ', '`a``', '[', '[a](', '![', '> \n', '~~x', '**a', '|\n', '- *_`\n']) {
      toTelegramHtml(piece.repeat(5_000));
    }
    // Each takes milliseconds; work that grows with the square of the length takes minutes.
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});
