import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { until } from '../../support/wait.ts';
import { queuedTurn, sessionOf } from './fake-sessions.ts';
import { dataOf, openTestRunner, outcomeOf, type RunnerUnderTest, script } from './runner-fixture.ts';

let turns = 0;

/** Runs a tool in its own turn and a workspace with these files, and returns its result. */
async function runTool(
  tool: string,
  input: object,
  files: Record<string, string | Uint8Array | null> = {},
  fixture?: RunnerUnderTest,
) {
  await using opened = fixture ? undefined : await openTestRunner();
  const runner = fixture ?? opened;
  if (!runner) throw new Error('the runner is not open');
  const turnId = `trn_${++turns}`;
  runner.files.upload(sessionOf(turnId), files);
  runner.queueTurns(script({ tool, input }), queuedTurn(turnId, ''));
  const journal = await runner.waitForOutcome(turnId);
  expect(outcomeOf(journal)?.$case).toBe('completed');
  const result = dataOf(journal, 'agent.tool_result')[0];
  const { output, is_error, workspace_version } = result as Record<string, unknown>;
  return { output, is_error, workspace_version, tree: runner.files.tree(sessionOf(turnId)) };
}

describe('read_file', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join('');

  it('returns numbered lines', async () => {
    const files = { 'a/b.txt': 'one\r\n\ntwo\nthree' };
    const output = '1\tone\n2\t\n3\ttwo\n4\tthree';
    expect(await runTool('read_file', { path: 'a/b.txt' }, files)).toMatchObject({ output, is_error: false });
    expect(await runTool('read_file', { path: '/workspace/./a//b.txt' }, files)).toMatchObject({ output });
  });

  it('returns a range of lines and the next offset', async () => {
    const files = { f: lines(5_000) };
    expect(await runTool('read_file', { path: 'f', offset: 4_999, limit: 2 }, files)).toMatchObject({
      output: '4999\tline 4999\n5000\tline 5000',
    });
    expect(await runTool('read_file', { path: 'f', offset: 3, limit: 2 }, files)).toMatchObject({
      output: '3\tline 3\n4\tline 4\n[There are more lines. Continue with offset 5.]',
    });
    const { output } = await runTool('read_file', { path: 'f' }, files);
    expect(output).toMatch(/\n2000\tline 2000\n\[There are more lines\. Continue with offset 2001\.\]$/);
    expect(await runTool('read_file', { path: 'f', offset: 5_001 }, files)).toMatchObject({
      output: 'The file has only 5000 lines.',
      is_error: true,
    });
  });

  it('returns only the beginning of a very long line', async () => {
    const { output } = await runTool('read_file', { path: 'f' }, { f: 'x'.repeat(5_000_000) });
    expect(output).toBe(`1\t${'x'.repeat(2_000)} [The line was cut.]`);
  });

  it.each([
    ['a binary file', 'bin', 'bin is a binary file of 5 bytes and is not shown.', false],
    ['an empty file', 'empty', 'empty is empty.', false],
    ['a directory', 'dir', 'dir is a directory. Use list_files.', true],
    ['a missing file', 'gone', 'There is no file gone.', true],
    ['the workspace itself', '.', 'The path is the workspace itself. Give the path of a file.', true],
    [
      'a path outside of the workspace',
      '/etc/passwd',
      '/etc/passwd is outside of the workspace. Paths are relative to /workspace.',
      true,
    ],
    ['a path with ".."', 'dir/../../x', 'The path must not have "." or ".." as a part.', true],
  ])('describes %s instead of returning content', async (_, path, output, is_error) => {
    const files = { bin: Buffer.from([1, 2, 0, 3, 4]), empty: '', 'dir/x': '' };
    expect(await runTool('read_file', { path }, files)).toMatchObject({ output, is_error });
  });

  it('does not follow a symlink', async () => {
    await using fixture = await openTestRunner();
    fixture.files.link(sessionOf(`trn_${turns + 1}`), 'link', '/etc/passwd');
    expect(await runTool('read_file', { path: 'link' }, {}, fixture)).toMatchObject({
      output: 'link is a symlink to /etc/passwd. This tool does not follow symlinks.',
    });
  });
});

describe('write_file', () => {
  it('writes a file and its parent directories and returns the new workspace version', async () => {
    expect(await runTool('write_file', { path: 'a/b/c.txt', content: 'ü\n' })).toEqual({
      output: 'Wrote 3 bytes to a/b/c.txt.',
      is_error: false,
      workspace_version: 2,
      tree: { a: null, 'a/b': null, 'a/b/c.txt': 'ü\n' },
    });
  });

  it('replaces a file but not a directory', async () => {
    expect((await runTool('write_file', { path: 'f', content: '' }, { f: 'old' })).tree).toEqual({ f: '' });
    expect(await runTool('write_file', { path: 'd', content: '' }, { 'd/f': 'old' })).toMatchObject({
      output: 'd is a directory.',
      is_error: true,
      tree: { d: null, 'd/f': 'old' },
    });
  });

  it('returns an error when the workspace is full', async () => {
    await using fixture = await openTestRunner();
    fixture.files.maxBytes = 10;
    expect(await runTool('write_file', { path: 'f', content: 'x'.repeat(11) }, {}, fixture)).toMatchObject({
      output: 'the workspace would hold 11 bytes',
      is_error: true,
      tree: {},
    });
  });
});

describe('edit_file', () => {
  const edit = (old_text: string, new_text: string, more: object = {}) => ({
    path: 'f',
    old_text,
    new_text,
    ...more,
  });

  it('replaces a single occurrence literally', async () => {
    const files = { f: 'one\ntwo $x\nthree\n' };
    expect(await runTool('edit_file', edit('two $x', '$& $1'), files)).toMatchObject({
      output: 'Replaced 1 place in f: line 2.',
      is_error: false,
      workspace_version: 2,
      tree: { f: 'one\n$& $1\nthree\n' },
    });
  });

  it('replaces all occurrences with replace_all', async () => {
    expect(
      await runTool('edit_file', edit('a', 'b', { replace_all: true }), { f: 'a\nxx\naa' }),
    ).toMatchObject({
      output: 'Replaced 3 places in f: lines 1, 3, 3.',
      tree: { f: 'b\nxx\nbb' },
    });
  });

  it.each([
    ['is not in the file', edit('nine', ''), /^old_text is not in f\./],
    ['is in the file more than once', edit('o', ''), /^old_text is in f 2 times \(lines 1, 2\)\./],
    ['belongs to a missing file', { ...edit('x', ''), path: 'g' }, /^There is no file g\./],
    ['belongs to a directory', { ...edit('x', ''), path: 'd' }, /^d is a directory\./],
    ['belongs to a binary file', { ...edit('x', ''), path: 'bin' }, /^bin is not UTF-8 text/],
  ])('changes nothing when old_text %s', async (_, input, output) => {
    const files = { f: 'one\ntwo', 'd/x': '', bin: Buffer.from([0xff, 0xfe, 0x78]) };
    const end = await runTool('edit_file', input, files);
    expect(end).toMatchObject({ output: expect.stringMatching(output), is_error: true });
    expect(end.tree.f).toBe('one\ntwo');
  });

  it('saves the edit to a conflict file when another writer changed the file', async () => {
    await using fixture = await openTestRunner();
    const session = sessionOf(`trn_${turns + 1}`);
    fixture.files.before.writeContents = () => fixture.files.upload(session, { f: 'theirs' });
    expect(await runTool('edit_file', edit('one', 'two'), { f: 'one' }, fixture)).toMatchObject({
      output: 'f was changed by another writer at the same time. Your version was saved as f.conflict-v1.',
      is_error: true,
      tree: { f: 'theirs', 'f.conflict-v1': 'two' },
    });
  });
});

describe('a workspace change whose response is lost', () => {
  const steps: [string, object, string][] = [
    ['write_file', { path: 'f', content: 'new' }, 'Wrote 3 bytes to f.'],
    ['edit_file', { path: 'f', old_text: 'one', new_text: 'new' }, 'Edited f.'],
    ['edit_file', { path: 'f', old_text: 'one', new_text: 'one new' }, 'Replaced 1 place in f: line 1.'],
  ];
  it.each(steps)('by %s of %j is repeated after a crash and applied once', async (tool, input, output) => {
    await using fixture = await openTestRunner();
    const session = sessionOf('trn_1');
    fixture.files.upload(session, { f: 'one' });
    const reached = Promise.withResolvers<void>();
    fixture.files.after.changeWorkspace = () => {
      reached.resolve();
      return new Promise(() => {});
    };
    fixture.queueTurns(script({ tool, input }), queuedTurn('trn_1', ''));
    await reached.promise;
    fixture.files.after.changeWorkspace = undefined;
    const before = fixture.files.tree(session);
    fixture.sessions.revokeLease('trn_1');
    await fixture.crash();
    fixture.requeue('trn_1');
    const journal = await fixture.waitForOutcome('trn_1');
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([
      { output, is_error: false, workspace_version: 2 },
    ]);
    expect(fixture.files.tree(session)).toEqual(before);
    expect(fixture.files.version(session)).toBe(2);
  });
});

describe('a workspace change under a lost lease', () => {
  it('is rejected, and the turn reports nothing more', async () => {
    await using fixture = await openTestRunner();
    fixture.files.before.changeWorkspace = () => fixture.sessions.revokeLease('trn_1');
    fixture.queueTurns(
      script({ tool: 'write_file', input: { path: 'f', content: 'x' } }),
      queuedTurn('trn_1', ''),
    );
    await until('the change was requested', () => fixture.files.changes.length === 1);
    fixture.queueTurns({}, queuedTurn('trn_2', 'next'));
    await fixture.waitForOutcome('trn_2');
    expect(fixture.files.tree(sessionOf('trn_1'))).toEqual({});
    expect(dataOf(fixture.sessions.journalOf('trn_1'), 'agent.tool_result')).toEqual([]);
    expect(fixture.sessions.journalOf('trn_1').outcomes).toEqual([]);
  });
});

describe('list_files', () => {
  const files = { 'src/a.ts': 'x', 'src/deep/b.ts': '', 'README.md': 'hello' };

  it('lists one directory or everything below it', async () => {
    expect(await runTool('list_files', {}, files)).toMatchObject({ output: 'README.md\t5 bytes\nsrc/' });
    expect(await runTool('list_files', { path: 'src', recursive: true }, files)).toMatchObject({
      output: 'src/a.ts\t1 bytes\nsrc/deep/\nsrc/deep/b.ts\t0 bytes',
    });
  });

  it('reports more entries than the limit, an empty directory and a missing directory', async () => {
    const many = Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`f${1_000 + i}`, '']));
    const { output } = await runTool('list_files', { limit: 1_201 }, many);
    expect(String(output).split('\n')).toHaveLength(1_202);
    expect(output).toMatch(/f2200\t0 bytes\n\[There are more than 1201 entries\.\]$/);
    expect(await runTool('list_files', {})).toMatchObject({ output: 'The workspace is empty.' });
    expect(await runTool('list_files', { path: 'no' })).toMatchObject({ is_error: true });
  });

  it('lists symlinks without following them', async () => {
    await using fixture = await openTestRunner();
    fixture.files.link(sessionOf(`trn_${turns + 1}`), 'up', '../..');
    expect(await runTool('list_files', { recursive: true }, {}, fixture)).toMatchObject({
      output: 'up -> ../..',
    });
  });
});

describe('search_files', () => {
  const files = {
    'src/a.ts': 'const one = 1;\nconst two = 2;\r\n',
    'src/b.js': 'const One = 3;',
    'bin/tool': Buffer.from('const one\0'),
    'notes.txt': 'nothing here',
  };

  it.each([
    [
      'in all files',
      { pattern: 'const \\w+' },
      'src/a.ts:1: const one = 1;\nsrc/a.ts:2: const two = 2;\nsrc/b.js:1: const One = 3;',
    ],
    ['in files that match a name pattern', { pattern: 'const', glob: '*.js' }, 'src/b.js:1: const One = 3;'],
    [
      'in files that match a path pattern',
      { pattern: 'one', glob: 'src/**/*.{ts,js}' },
      'src/a.ts:1: const one = 1;',
    ],
    ['in one file', { pattern: 'two', path: 'src/a.ts' }, 'src/a.ts:2: const two = 2;'],
    ['in a directory', { pattern: '.', path: 'bin' }, 'No line matches.'],
    ['with ignored case', { pattern: 'ONE', ignore_case: true, glob: '*.js' }, 'src/b.js:1: const One = 3;'],
    [
      'up to a limit',
      { pattern: 'const', limit: 1 },
      'src/a.ts:1: const one = 1;\n[There are more than 1 matching lines.]',
    ],
  ])('finds lines %s', async (_, input, output) => {
    expect(await runTool('search_files', input, files)).toMatchObject({ output, is_error: false });
  });

  it('returns the error of an invalid pattern', async () => {
    expect(await runTool('search_files', { pattern: '(' }, files)).toMatchObject({
      output: expect.stringMatching(/^The pattern is not a valid regular expression: /),
      is_error: true,
    });
  });

  it('ends a pattern that takes too long while other searches continue', async () => {
    await using fixture = await openTestRunner();
    const session = sessionOf('trn_slow');
    fixture.files.upload(session, { f: `${'a'.repeat(40)}!` });
    fixture.queueTurns(
      script({ tool: 'search_files', input: { pattern: '^(a|a)*$' } }),
      queuedTurn('trn_slow', ''),
    );
    await until(
      'the search is dispatched',
      () => dataOf(fixture.sessions.journalOf('trn_slow'), 'agent.tool_dispatched').length === 1,
    );
    expect(await runTool('search_files', { pattern: 'x' }, { f: 'x' }, fixture)).toMatchObject({
      output: 'f:1: x',
    });
    await fixture.advanceUntil(
      'the turn has ended',
      () => fixture.sessions.journalOf('trn_slow').outcomes.length > 0,
      200,
    );
    expect(dataOf(fixture.sessions.journalOf('trn_slow'), 'agent.tool_result')).toMatchObject([
      { output: 'The pattern takes too long to match. Use a simpler pattern.', is_error: true },
    ]);
  });

  it('returns an error when the files service is unavailable', async () => {
    await using fixture = await openTestRunner();
    fixture.files.holds = () => {
      throw refuse('DEPENDENCY_UNAVAILABLE', 'the database is unavailable');
    };
    expect(await runTool('search_files', { pattern: 'x' }, {}, fixture)).toMatchObject({
      output: 'the database is unavailable',
      is_error: true,
    });
  });
});
