import { describe, expect, it } from 'vitest';
import { detectEntities, trimmed } from '../../support/products/telegram/entities.ts';
import { parseHtml } from '../../support/products/telegram/html.ts';

describe('parse mode HTML', () => {
  it.each([
    ['<abacaba', 'Unclosed start tag at byte offset 13'],
    ['<abac aba>', 'Unsupported start tag "abac" at byte offset 13'],
    ['<i   =aba>', 'Empty attribute name in the tag "i" at byte offset 13'],
    ['<i    aba>', 'Can\'t find end tag corresponding to start tag "i"'],
    ['<i    aba  =  ', 'Unclosed start tag "i" at byte offset 13'],
    ['<i    aba  =  190azAz-.,', 'Unexpected end of name token at byte offset 27'],
    ['<i    aba  =  "&lt;&gt;&quot;>', 'Unclosed start tag at byte offset 13'],
    ['</', 'Unexpected end tag at byte offset 13'],
    ['<b></b></', 'Unexpected end tag at byte offset 20'],
    ['<i>a</i   ', 'Unclosed end tag at byte offset 17'],
    ['<i>a</em   >', 'Unmatched end tag at byte offset 17, expected "</i>", found "</em>"'],
    ['<span>a</span>', 'Tag "span" must have class "tg-spoiler" at byte offset 13'],
  ])('refuses %s after nine bytes of emoji', (html, problem) => {
    expect(() => parseHtml(`🏟 🏟&lt;${html}`)).toThrow(`Bad Request: can't parse entities: ${problem}`);
  });

  it('counts offsets of entities in UTF-16 units', () => {
    expect(parseHtml('🏟 🏟<i>🏟 &gt;<b aba   =   caba>&lt🏟</b></i>')).toEqual({
      text: '🏟 🏟🏟 ><🏟',
      entities: [
        { type: 'italic', offset: 5, length: 7 },
        { type: 'bold', offset: 9, length: 3 },
      ],
    });
  });

  it('decodes four named references and leaves others as text', () => {
    expect(parseHtml('&ge;&lt;&gt;&amp;&quot;&laquo;&#12345678;').text).toBe('&ge;<>&"&laquo;&#12345678;');
  });

  it('drops empty entities and accepts end tags without a name', () => {
    expect(parseHtml('<b></b><i>a</>').entities).toEqual([{ type: 'italic', offset: 0, length: 1 }]);
  });

  it('joins pre and code with a language and ignores the language of code alone', () => {
    expect(parseHtml('<pre><code class="language-ts">a</code></pre>').entities).toEqual([
      { type: 'pre', offset: 0, length: 1, language: 'ts' },
    ]);
    expect(parseHtml('<code class="language-ts">a</code>').entities).toEqual([
      { type: 'code', offset: 0, length: 1 },
    ]);
  });

  it('makes a link of an address and drops a tag without one', () => {
    expect(parseHtml('<a href="https://example.org/?a=1&amp;b=2">x</a>').entities).toEqual([
      { type: 'text_link', offset: 0, length: 1, url: 'https://example.org/?a=1&b=2' },
    ]);
    expect(parseHtml('<a>x y</a>').entities).toEqual([]);
  });

  it('knows the expandable block quotation', () => {
    expect(parseHtml('<blockquote expandable>a</blockquote>').entities).toEqual([
      { type: 'expandable_blockquote', offset: 0, length: 1 },
    ]);
  });
});

describe('entities of plain text', () => {
  const typesIn = (text: string) =>
    detectEntities({ text, entities: [] }).map(
      ({ type, offset, length }) => `${type} ${text.slice(offset, offset + length)}`,
    );

  it('finds commands, mentions and addresses', () => {
    expect(typesIn('/new@agent_bot ask @ada about https://example.org/@ada')).toEqual([
      'bot_command /new@agent_bot',
      'mention @ada',
      'url https://example.org/@ada',
    ]);
  });

  it('finds no command within a path and no mention within an e-mail address', () => {
    expect(typesIn('usr/bin/node //a ada@example.org')).toEqual([]);
  });

  it('moves entities when space around the text is removed', () => {
    expect(trimmed({ text: '  a b ', entities: [{ type: 'bold', offset: 0, length: 6 }] })).toEqual({
      text: 'a b',
      entities: [{ type: 'bold', offset: 0, length: 3 }],
    });
  });
});
