import parse from 'remark-parse';
import { unified } from 'unified';
import { describe, expect, it } from 'vitest';
import { orderHeadings } from '../../console/parts/text/heading-levels.ts';

/** Returns the level of each heading in the order of the text. */
function levelsOf(markdown: string): number[] {
  const tree = unified().use(parse).parse(markdown);
  orderHeadings()(tree);
  return tree.children.flatMap((node) => (node.type === 'heading' ? [node.depth] : []));
}

describe('orderHeadings', () => {
  it.each([
    ['# a\n## b\n### c\n# d', [1, 2, 3, 1]],
    ['## a\n### b\n## c', [1, 2, 1]],
    ['# a\n#### b\n## c', [1, 2, 2]],
    ['### a\n# b', [1, 1]],
    ['no heading', []],
  ])('gives the headings of %j the levels %j', (markdown, levels) => {
    expect(levelsOf(markdown)).toEqual(levels);
  });
});
