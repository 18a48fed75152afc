import ts from 'typescript';

/** A piece of prose in a file. */
export interface Prose {
  /** 1-based line of the first character. */
  line: number;
  text: string;
}

type Extractor = (text: string) => Prose[];

/** Extractors by file name. A file that matches none holds no prose that this check reads. */
const EXTRACTORS: readonly [RegExp, Extractor][] = [
  [/\.(tsx?|mjs)$/, proseOfScript],
  [/\.md$/, proseOfMarkdown],
  [/\.(proto|grit|js)$/, (text) => proseOfLineComments(text, '//')],
  [/\.sql$/, (text) => proseOfLineComments(text, '--')],
  [/(\.(ya?ml|sh|toml)|Dockerfile|CODEOWNERS|\.ci\/run)$/, (text) => proseOfLineComments(text, '#')],
];

/** Returns the comments, sentences in string literals and JSX text of a file, or the text of a Markdown page. */
export function proseOf(path: string, text: string): Prose[] {
  const extract = EXTRACTORS.find(([pattern]) => pattern.test(path))?.[1];
  return extract?.(text) ?? [];
}

function proseOfScript(text: string): Prose[] {
  const file = ts.createSourceFile('file.tsx', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const found = new Map<number, string>();
  const addComments = (ranges: readonly ts.CommentRange[] | undefined) => {
    for (const { pos, end } of ranges ?? []) found.set(pos, commentText(text.slice(pos, end)));
  };
  const visit = (node: ts.Node): void => {
    if (!ts.isJsxText(node)) {
      addComments(ts.getLeadingCommentRanges(text, node.pos));
      addComments(ts.getTrailingCommentRanges(text, node.end));
    }
    if (isText(node) && !ts.isImportDeclaration(node.parent) && /\s/.test(node.text.trim()))
      found.set(node.getStart(file), node.text);
    for (const child of node.getChildren(file)) visit(child);
  };
  visit(file);
  return [...found].map(([position, prose]) => ({
    line: file.getLineAndCharacterOfPosition(position).line + 1,
    text: prose,
  }));
}

function isText(
  node: ts.Node,
): node is ts.StringLiteralLike | ts.JsxText | ts.TemplateHead | ts.TemplateMiddle {
  return (
    ts.isStringLiteralLike(node) ||
    ts.isJsxText(node) ||
    ts.isTemplateHead(node) ||
    ts.isTemplateMiddleOrTemplateTail(node)
  );
}

function commentText(comment: string): string {
  return comment
    .replace(/^\/\*+|\*+\/$/g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*(\/\/+|\*)? ?/, ''))
    .join('\n');
}

/** Paragraphs without fenced code. Line numbers are those of the first line of each paragraph. */
function proseOfMarkdown(text: string): Prose[] {
  const found: Prose[] = [];
  let fence: string | undefined;
  let paragraph: Prose | undefined;
  text.split('\n').forEach((line, index) => {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (mark && (fence === undefined || mark.startsWith(fence))) {
      fence = fence === undefined ? mark : undefined;
      paragraph = undefined;
    } else if (fence === undefined && line.trim() !== '') {
      if (paragraph && !/^\s*([#|>*-]|\d+\.)/.test(line)) {
        paragraph.text += `\n${line}`;
      } else {
        paragraph = { line: index + 1, text: line };
        found.push(paragraph);
      }
    } else paragraph = undefined;
  });
  return found;
}

/** Consecutive comment lines are one text, so that a sentence may continue on the next line. */
function proseOfLineComments(text: string, mark: string): Prose[] {
  const found: Prose[] = [];
  let block: Prose | undefined;
  text.split('\n').forEach((line, index) => {
    const at = line.trimStart().startsWith(mark) ? line.indexOf(mark) : line.indexOf(` ${mark} `);
    if (at < 0) {
      block = undefined;
      return;
    }
    const comment = line.slice(at).trimStart().slice(mark.length).trim();
    const isWholeLine = line.trimStart().startsWith(mark);
    if (block && isWholeLine) {
      block.text += `\n${comment}`;
    } else {
      block = { line: index + 1, text: comment };
      found.push(block);
    }
  });
  return found;
}
