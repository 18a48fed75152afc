import { describe, expect, it } from 'vitest';
import { splitMarkdown } from '../../../../services/channels/rendering/split-markdown.ts';
import { seeded } from '../../../chaos/random.ts';

const split = (markdown: string, max: number) => splitMarkdown(markdown, max, (text) => text.length);

describe('splitMarkdown', () => {
  it('returns a text that fits unchanged', () => {
    expect(split('one\n\ntwo', 10)).toEqual(['one\n\ntwo']);
    expect(split('', 10)).toEqual([]);
  });

  it('cuts between paragraphs', () => {
    expect(split('first paragraph\n\nsecond one\n\nthird', 20)).toEqual([
      'first paragraph',
      'second one\n\nthird',
    ]);
  });

  it('cuts a long paragraph between lines, then words, then characters', () => {
    expect(split('line one\nline two\nline three', 18)).toEqual(['line one\nline two', 'line three']);
    expect(split('some words here', 11)).toEqual(['some words ', 'here']);
    expect(split('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
  });

  it('closes and reopens a code block that is cut', () => {
    const parts = split('```ts\nconst a = 1;\nconst b = 2;\nconst c = 3;\n```', 36);
    expect(parts).toEqual(['```ts\nconst a = 1;\nconst b = 2;\n```', '```ts\nconst c = 3;\n```']);
  });

  it('keeps a fence of another length or character inside of a code block', () => {
    const code = '````\n```\n~~~\n````';
    expect(split(`text before it\n\n${code}`, 20)).toEqual(['text before it', code]);
  });

  it('cuts no character in half', () => {
    for (const part of split('😀'.repeat(9), 5)) expect(part.isWellFormed()).toBe(true);
  });

  it('keeps all words of generated texts within the limit', () => {
    const random = seeded(7);
    const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)]!;
    const pieces = [
      'word',
      'a longer sentence of words.',
      '\n',
      '\n\n',
      '```\ncode line\nmore\n```\n',
      '- item\n',
      '~~~js\nx\n~~~\n',
      ' ',
    ];
    for (let round = 0; round < 300; round++) {
      const text = Array.from({ length: 1 + Math.floor(random() * 60) }, () => pick(pieces)).join('');
      const max = 30 + Math.floor(random() * 60);
      const parts = split(text, max);
      for (const part of parts) expect(part.length).toBeLessThanOrEqual(max);
      const words = (markdown: string) =>
        markdown
          .replace(/```\w*|~~~\w*/g, '')
          .split(/\s+/)
          .filter(Boolean)
          .join('');
      expect(words(parts.join('\n'))).toBe(words(text));
    }
  });
});
