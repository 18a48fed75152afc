import { type DiffLine, diffLines, hunksOf } from '../../../../parts/diff/lines.ts';
import { outputText } from '../../../../parts/text/json.ts';
import type { ParsedInput } from './parsed-input.ts';

/** A part of an input with its lines. */
export interface InputSection {
  /** Undefined for the only section of an input. */
  label: string | undefined;
  kind: 'text' | 'diff';
  rows: readonly DiffLine[];
}

/** A section as shown. Numbers are unchanged lines that are left out. */
export interface ShownSection extends Omit<InputSection, 'rows'> {
  rows: readonly (DiffLine | number)[];
}

export interface InputSize {
  lines: number;
  chars: number;
}

/** A longer input is shown completely on request, and a call is allowed only then. */
const MAX_LINES = 20;
const MAX_CHARS = 2_000;

/** Returns the short values of an input, which are always shown. */
export function factsOf(input: ParsedInput): [name: string, text: string][] {
  switch (input.kind) {
    case 'command':
      return input.timeoutSeconds === undefined ? [] : [['Time limit', `${input.timeoutSeconds} s`]];
    case 'write':
      return [['Path', visibleText(input.path)]];
    case 'edit':
      return [
        ['Path', visibleText(input.path)],
        ...(input.replacesAll ? [['Replaces', 'All occurrences'] as [string, string]] : []),
      ];
    case 'fields':
      return [];
  }
}

/** Returns the sections of an input. `current` is the text of the file that a write replaces, if it is known. */
export function sectionsOf(input: ParsedInput, current?: string): InputSection[] {
  switch (input.kind) {
    case 'command':
      return [{ label: undefined, kind: 'text', rows: textRows(input.command) }];
    case 'write':
      return [{ label: undefined, kind: 'diff', rows: diffRows(current ?? '', input.content) }];
    case 'edit':
      return [{ label: undefined, kind: 'diff', rows: diffRows(input.oldText, input.newText) }];
    case 'fields':
      return input.fields.map(([name, value]) => ({
        label: visibleText(name),
        kind: 'text',
        rows: textRows(outputText(value)),
      }));
  }
}

/** Returns the number of lines and characters of an input. The labels of fields count as characters. */
export function sizeOf(sections: readonly InputSection[]): InputSize {
  let lines = 0;
  let chars = 0;
  for (const { label, rows } of sections) {
    lines += rows.length;
    chars += (label?.length ?? 0) + Math.max(0, rows.length - 1);
    for (const { text } of rows) chars += text.length;
  }
  return { lines, chars };
}

export const isLong = ({ lines, chars }: InputSize) => lines > MAX_LINES || chars > MAX_CHARS;

/** Returns the label of the button that shows a long input completely. */
export function showAllText({ lines, chars }: InputSize): string {
  return lines > MAX_LINES
    ? `Show all ${lines.toLocaleString('en')} lines`
    : `Show all ${chars.toLocaleString('en')} characters`;
}

/** Returns the beginning of a long input. Unchanged lines of a diff are left out. */
export function beginningOf(sections: readonly InputSection[]): ShownSection[] {
  const left = { lines: MAX_LINES, chars: MAX_CHARS };
  const shown: ShownSection[] = [];
  for (const section of sections) {
    if (left.lines <= 0 || left.chars <= 0) break;
    const all = section.kind === 'diff' ? hunksOf([...section.rows]).flat() : section.rows;
    const label = section.label?.slice(0, left.chars);
    left.chars -= label?.length ?? 0;
    const rows: (DiffLine | number)[] = [];
    for (const row of all) {
      if (left.lines <= 0 || left.chars <= 0) break;
      left.lines--;
      if (typeof row === 'number') rows.push(row);
      else {
        const text = row.text.slice(0, left.chars).toWellFormed();
        left.chars -= text.length + 1;
        rows.push({ ...row, text });
      }
    }
    shown.push({ ...section, label, rows });
  }
  return shown;
}

const textRows = (text: string): DiffLine[] =>
  withoutLastBreak(text)
    .split('\n')
    .map((line) => ({ kind: 'same', text: visibleText(line) }));

/** A line break at the end starts no further line. It is part of the diff only when one text has it and the other not. */
function diffRows(before: string, after: string): DiffLine[] {
  const isAlike = before === '' || after === '' || before.endsWith('\n') === after.endsWith('\n');
  const lines = isAlike
    ? diffLines(withoutLastBreak(before), withoutLastBreak(after))
    : diffLines(before, after);
  return lines.map(({ kind, text }) => ({ kind, text: visibleText(text) }));
}

const withoutLastBreak = (text: string) => (text.endsWith('\n') ? text.slice(0, -1) : text);

/**
 * Control characters except tab and line feed, format characters, separators of lines and paragraphs, and the letters and
 * marks that fonts do not display.
 */
const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Replaces characters that are invisible or change the order of displayed text, so that the text shows what will run. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '\u2421' : `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
  });
}
