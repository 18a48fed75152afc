import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm as syntax } from 'micromark-extension-gfm';
import type { Processor } from 'unified';

/** Parses GitHub Flavored Markdown. The package remark-gfm would add 6 KiB of code that writes Markdown. */
export function gfm(this: Processor): undefined {
  const data = this.data();
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []), syntax()];
  data.fromMarkdownExtensions = [...(data.fromMarkdownExtensions ?? []), gfmFromMarkdown()];
}
