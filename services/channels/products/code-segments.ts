/** Code blocks and code spans. A block without an end goes on to the end of the text. */
const CODE = /((?:^|\n)[ \t]*(`{3,}|~{3,})[\s\S]*?(?:\n[ \t]*\2|$)|(`+)[^`\n][^\n]*?\3)/;

export interface Segment {
  text: string;
  isCode: boolean;
}

/** Splits Markdown into code and other text. Joined, the segments are the Markdown. */
export function codeSegments(markdown: string): Segment[] {
  const found: Segment[] = [];
  let rest = markdown;
  for (let code = CODE.exec(rest); code; code = CODE.exec(rest)) {
    found.push({ text: rest.slice(0, code.index), isCode: false }, { text: code[0], isCode: true });
    rest = rest.slice(code.index + code[0].length);
  }
  found.push({ text: rest, isCode: false });
  return found;
}
