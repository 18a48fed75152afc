import type { Node, Root } from './markdown-blocks.ts';

type Heading = Extract<Node, { type: 'heading' }>;

/**
 * Remark plugin that gives the headings of a text the levels from 1 without gaps: a text that begins with `##` and continues
 * with `####` gets the levels 1 and 2. Headings keep the size of their written level.
 */
export function orderHeadings(): (tree: Root) => void {
  return (tree) => {
    const headings = headingsIn(tree);
    const top = Math.min(...headings.map(({ depth }) => depth));
    let last = 0;
    for (const heading of headings) {
      const className = SIZES[heading.depth];
      if (className) heading.data = { hProperties: { className: [className] } };
      last = Math.min(heading.depth - top + 1, last + 1);
      heading.depth = last as Heading['depth'];
    }
  };
}

const SIZES: Partial<Record<Heading['depth'], string>> = { 1: 'text-[1.25em]', 2: 'text-[1.12em]' };

function headingsIn(node: Root | Node): Heading[] {
  if (node.type === 'heading') return [node];
  return 'children' in node ? node.children.flatMap((child) => headingsIn(child as Node)) : [];
}
