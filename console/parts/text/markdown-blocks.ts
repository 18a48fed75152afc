import parse from 'remark-parse';
import { unified } from 'unified';
import { gfm } from './gfm.ts';

const parser = unified().use(parse).use(gfm).freeze();
const LINE_BREAK = /\r\n|\n|\r/g;
/** The label of a definition as written. */
const LABEL = /^\[((?:\\.|[^\]\\])*)\]:/s;

export type Root = ReturnType<typeof parser.parse>;
export type Node = Root['children'][number];

/** A link reference definition of the text. */
interface Definition {
  label: string;
  /** The definition in Markdown. */
  source: string;
}

/**
 * Splits the Markdown text of a message into blocks while the text grows. A block is one or several elements, and an empty
 * line is before the next block. A block is finished when another one follows: no later line changes it, so it is parsed
 * once. Only complete lines finish a block, because a line can change its meaning while it grows, for example from `*` to
 * `**bold**`.
 */
export class MarkdownSplitter {
  /** The finished part of the text. */
  #finished = '';
  #blocks: string[] = [];
  #sources: string[] = [];
  #definitions: Definition[] = [];
  /** The end of the last complete line that was parsed. */
  #parsedTo = 0;
  #hasFootnotes = false;

  /**
   * Returns the blocks of the text in Markdown. Each begins with the link definitions of other blocks that it uses. The
   * last block can still change unless `isComplete`. A complete text with footnotes is one block, because footnotes are
   * numbered and listed across blocks.
   */
  split(text: string, isComplete: boolean): string[] {
    if (!text.startsWith(this.#finished)) this.#reset();
    const end = isComplete ? text.length : text.lastIndexOf('\n') + 1;
    if (isComplete || end > this.#parsedTo) this.#finish(text, end, isComplete);
    if (isComplete && this.#hasFootnotes) return [text];
    const rest = text.slice(this.#finished.length);
    return rest === '' ? [...this.#sources] : [...this.#sources, this.#withDefinitions(rest)];
  }

  #finish(text: string, end: number, isComplete: boolean): void {
    this.#parsedTo = end;
    const rest = text.slice(this.#finished.length, end);
    const nodes = parser.parse(rest).children;
    const starts = lineStarts(rest);
    const known = this.#definitions.length;
    let from = 0;
    let members: Node[] = [];
    for (const [index, node] of nodes.entries()) {
      members.push(node);
      const nextLine = nodes[index + 1]?.position?.start.line;
      if (nextLine === undefined && !isComplete) break;
      const to = nextLine === undefined ? rest.length : endBefore(rest, starts, nextLine);
      if (to === undefined) continue;
      this.#blocks.push(rest.slice(from, to));
      for (const member of members) this.#collect(member, rest);
      members = [];
      from = to;
    }
    if (from === 0) return;
    this.#finished += rest.slice(0, from);
    // Earlier blocks can use a definition that comes after them.
    const isKnown = known === this.#definitions.length;
    const unchanged = isKnown ? this.#sources : [];
    const changed = this.#blocks.slice(unchanged.length).map((block) => this.#withDefinitions(block));
    this.#sources = [...unchanged, ...changed];
  }

  /** Collects the definitions in a finished node, which can be in a list or a quotation. */
  #collect(node: Node, source: string): void {
    if (node.type === 'footnoteDefinition') this.#hasFootnotes = true;
    if (node.type === 'definition') {
      const text = source.slice(node.position?.start.offset, node.position?.end.offset);
      const [, label = ''] = LABEL.exec(text) ?? [];
      // Removes the indentation and the quotation marks of continued lines.
      this.#definitions.push({ label: normalized(label), source: text.replace(/\n[\t >]*/g, '\n') });
    }
    if ('children' in node) for (const child of node.children) this.#collect(child as Node, source);
  }

  /** The first definition of a label applies, so definitions stand before the block. */
  #withDefinitions(block: string): string {
    if (this.#definitions.length === 0) return block;
    const text = normalized(block);
    const used = this.#definitions.filter(({ label }) => text.includes(`[${label}]`));
    return used.length === 0 ? block : `${used.map(({ source }) => source).join('\n')}\n\n${block}`;
  }

  #reset(): void {
    this.#finished = '';
    this.#blocks = [];
    this.#sources = [];
    this.#definitions = [];
    this.#parsedTo = 0;
    this.#hasFootnotes = false;
  }
}

/** Labels are compared without differences in case and white space. */
const normalized = (text: string) =>
  text
    .replace(/\s+/g, ' ')
    .replace(/(?<=\[) | (?=\])|^ | $/g, '')
    .toLowerCase();

/**
 * Returns the end of the last line with text before a line, if there are empty lines between the two. The empty lines belong
 * to the next block, because they would extend a code block without an end. Lines are counted from 1.
 */
function endBefore(text: string, starts: readonly number[], line: number): number | undefined {
  const isBlank = (at: number) => text.slice(starts[at - 1], starts[at]).trim() === '';
  let last = line - 1;
  while (last >= 1 && isBlank(last)) last--;
  return last === line - 1 ? undefined : starts[last];
}

/** Returns the offsets at which the lines begin. */
function lineStarts(text: string): number[] {
  return [0, ...Array.from(text.matchAll(LINE_BREAK), (found) => found.index + found[0].length)];
}
