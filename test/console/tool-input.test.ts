import { describe, expect, it } from 'vitest';
import { editableFields, editedInput } from '../../console/pages/sessions/chat/tool-input/input-editor.ts';
import {
  beginningOf,
  factsOf,
  isLong,
  sectionsOf,
  showAllText,
  sizeOf,
  visibleText,
} from '../../console/pages/sessions/chat/tool-input/input-sections.ts';
import { parseInput } from '../../console/pages/sessions/chat/tool-input/parsed-input.ts';
import { workspacePathOf } from '../../console/pages/sessions/chat/tool-input/workspace-path.ts';
import { outputParts } from '../../console/pages/sessions/chat/tool-output/output-parts.ts';

const numbered = (count: number, word = 'line') =>
  Array.from({ length: count }, (_, index) => `${word} ${index + 1}`).join('\n');
const sections = (tool: string, input: unknown, current?: string) =>
  sectionsOf(parseInput(tool, input), current);
const rowsOf = (tool: string, input: unknown, current?: string) =>
  sections(tool, input, current).flatMap(({ rows }) => rows.map(({ kind, text }) => `${kind} ${text}`));

describe('parseInput', () => {
  it('recognizes the inputs of bash, write_file and edit_file', () => {
    expect(parseInput('bash', { command: 'ls', timeout_seconds: 5 })).toEqual({
      kind: 'command',
      command: 'ls',
      timeoutSeconds: 5,
    });
    expect(parseInput('write_file', { path: 'a', content: 'b' })).toMatchObject({ kind: 'write' });
    expect(
      parseInput('edit_file', { path: 'a', old_text: 'b', new_text: 'c', replace_all: true }),
    ).toMatchObject({ kind: 'edit', replacesAll: true });
  });

  it.each([
    ['bash', { command: 'ls', hidden: 'rm' }],
    ['bash', { command: ['ls'] }],
    ['bash', { command: 'ls', timeout_seconds: '5; rm' }],
    ['write_file', { path: 'a\nb', content: '' }],
    ['write_file', { path: 'p'.repeat(201), content: '' }],
    ['write_file', { content: '' }],
    ['edit_file', { path: 'a', old_text: 'b', new_text: 'c', replace_all: 'yes' }],
    ['other', { command: 'ls' }],
    ['bash', 'ls'],
  ])('returns an unexpected input of %s as fields: %j', (tool, input) => {
    expect(parseInput(tool, input)).toMatchObject({ kind: 'fields' });
  });
});

describe('sectionsOf', () => {
  it('returns the lines of a command without a last empty line', () => {
    expect(rowsOf('bash', { command: 'a\n  b\n\nc\n' })).toEqual(['same a', 'same   b', 'same ', 'same c']);
  });

  it('compares a written file with the current file, and adds all lines without one', () => {
    const input = { path: 'f', content: 'one\ntwo\n' };
    expect(rowsOf('write_file', input)).toEqual(['added one', 'added two']);
    expect(rowsOf('write_file', input, 'one\n2\n')).toEqual(['same one', 'removed 2', 'added two']);
    expect(rowsOf('write_file', input, 'one\ntwo')).toEqual(['same one', 'same two', 'added ']);
  });

  it('compares the texts of an edit', () => {
    const input = { path: 'f', old_text: 'a\nb', new_text: 'a\nc', replace_all: true };
    expect(rowsOf('edit_file', input)).toEqual(['same a', 'removed b', 'added c']);
    expect(factsOf(parseInput('edit_file', input))).toEqual([
      ['Path', 'f'],
      ['Replaces', 'All occurrences'],
    ]);
  });

  it('returns one section per field of another tool', () => {
    const found = sections('search', { query: 'a\nb', limit: 3, filter: { x: 1 } });
    expect(found.map(({ label, rows }) => [label, rows.map(({ text }) => text)])).toEqual([
      ['query', ['a', 'b']],
      ['limit', ['3']],
      ['filter', ['{', '  "x": 1', '}']],
    ]);
  });

  it('shows control characters and characters that reorder text', () => {
    expect(visibleText('a\tb\u001b[1m\r\u007f\u202egpj.exe ü 🦊')).toBe('a\tb␛[1m␍␡[U+202E]gpj.exe ü 🦊');
  });

  it('shows invisible characters', () => {
    const hidden = '\u200b \u200f \u061c \u00ad \u0085 \u2028 \ufeff \u{e0041}';
    expect(visibleText(hidden)).toBe(
      '[U+200B] [U+200F] [U+061C] [U+00AD] [U+0085] [U+2028] [U+FEFF] [U+E0041]',
    );
  });

  it('shows blank letters and invisible marks', () => {
    expect(visibleText('a\u3164b\u115fc\uffa0d\u034fe\ufe0ff\u{e0100}g\u180e')).toBe(
      'a[U+3164]b[U+115F]c[U+FFA0]d[U+034F]e[U+FE0F]f[U+E0100]g[U+180E]',
    );
  });
});

describe('isLong', () => {
  const sizeOfCommand = (command: string) => sizeOf(sections('bash', { command }));

  it.each([
    ['20 lines', numbered(20), false],
    ['20 lines and a line break', `${numbered(20)}\n`, false],
    ['21 lines', numbered(21), true],
    ['2,000 characters', 'x'.repeat(2_000), false],
    ['2,001 characters', 'x'.repeat(2_001), true],
  ])('counts a command of %s', (_, command, expected) => {
    expect(isLong(sizeOfCommand(command))).toBe(expected);
  });

  it('names the real number of lines, or of characters when the lines are few', () => {
    expect(showAllText(sizeOfCommand(`${numbered(43)}\n`))).toBe('Show all 43 lines');
    expect(showAllText(sizeOfCommand('x'.repeat(2_500)))).toBe('Show all 2,500 characters');
  });

  it('counts the labels and lines of all fields', () => {
    const fields = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`field ${index}`, index]));
    expect(isLong(sizeOf(sections('other', fields)))).toBe(true);
    expect(isLong(sizeOf(sections('other', { ['x'.repeat(2_001)]: '' })))).toBe(true);
  });
});

describe('beginningOf', () => {
  const textOf = (shown: ReturnType<typeof beginningOf>) =>
    shown.map(({ rows }) => rows.map((row) => (typeof row === 'number' ? row : row.text)));

  it('returns the first twenty lines of a command', () => {
    expect(textOf(beginningOf(sections('bash', { command: numbered(43) })))).toEqual([
      numbered(20).split('\n'),
    ]);
  });

  it('returns at most 2,000 characters of all sections', () => {
    const shown = beginningOf(sections('other', { a: 'x'.repeat(1_500), b: 'y'.repeat(1_500), c: 'z' }));
    expect(textOf(shown).flat().join('').length).toBeLessThanOrEqual(2_000);
    expect(shown.map(({ label }) => label)).toEqual(['a', 'b']);
  });

  it('leaves out the unchanged lines of a diff', () => {
    const content = `${numbered(30)}\nnew\n`;
    const [shown = []] = textOf(beginningOf(sections('write_file', { path: 'f', content }, numbered(30))));
    expect(shown[0]).toBe(27);
    expect(shown).toContain('new');
  });
});

describe('editedInput', () => {
  const edit = (tool: string, input: unknown, texts: Record<string, string>) =>
    editedInput(input, editableFields(tool, input), texts);

  it('replaces the text of a command and keeps the other members', () => {
    const input = { command: 'echo "a\nb"', timeout_seconds: 5 };
    expect(editableFields('bash', input)).toMatchObject([{ label: 'Command', text: 'echo "a\nb"' }]);
    expect(edit('bash', input, { command: 'echo\nc' })).toEqual({
      value: { command: 'echo\nc', timeout_seconds: 5 },
    });
    expect(edit('bash', input, { command: '' })).toEqual({ problems: { command: 'Enter a command.' } });
  });

  it('replaces the texts of a file tool', () => {
    expect(edit('write_file', { path: 'a', content: 'b' }, { content: '' })).toEqual({
      value: { path: 'a', content: '' },
    });
    expect(edit('edit_file', { path: 'a', old_text: 'b', new_text: 'c' }, { new_text: 'd' })).toEqual({
      value: { path: 'a', old_text: 'b', new_text: 'd' },
    });
  });

  it('keeps the line breaks of Windows, which text fields convert', () => {
    const input = { path: 'a', content: 'one\r\ntwo\r\n' };
    expect(edit('write_file', input, {}).value).toEqual(input);
    expect(edit('write_file', input, { content: 'one\n2\n' }).value).toEqual({
      path: 'a',
      content: 'one\r\n2\r\n',
    });
  });

  it('parses the JSON of another tool', () => {
    expect(edit('other', { a: 1 }, {})).toEqual({ value: { a: 1 } });
    expect(edit('other', { a: 1 }, { '': '[]' })).toEqual({ problems: { '': 'Enter a JSON object.' } });
  });
});

describe('workspacePathOf', () => {
  it.each([
    ['a/b.txt', 'a/b.txt'],
    ['./a//b', 'a/b'],
    ['/workspace/a', 'a'],
    ['/etc/passwd', undefined],
    ['/workspace', undefined],
    ['a/../b', undefined],
  ])('converts %s to %s', (given, path) => {
    expect(workspacePathOf(given)).toBe(path);
  });
});

describe('outputParts', () => {
  it('splits an output at the ranges of stderr', () => {
    expect(outputParts('out err out', [{ start: 4, end: 8 }])).toEqual([
      { text: 'out ', isStderr: false },
      { text: 'err ', isStderr: true },
      { text: 'out', isStderr: false },
    ]);
    expect(outputParts('err', [{ start: 0, end: 9 }])).toEqual([{ text: 'err', isStderr: true }]);
    expect(outputParts('', [])).toEqual([]);
  });
});
