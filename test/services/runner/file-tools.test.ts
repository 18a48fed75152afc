import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { until } from '../../support/wait.ts';
import { dataOf, open, outcomeOf, type RunnerUnderTest, script } from './open.ts';
import { asked, sessionOf } from './sessions.ts';

let turns = 0;

/** What a tool gives in a turn of its own, in a workspace with these files. */
async function used(
  tool: string,
  input: object,
  files: Record<string, string | Uint8Array | null> = {},
  world?: RunnerUnderTest,
) {
  await using own = world ? undefined : await open();
  const there = world ?? own;
  if (!there) throw new Error('there is no runner');
  const turnId = `trn_${++turns}`;
  there.files.upload(sessionOf(turnId), files);
  there.ask(script({ tool, input }), asked(turnId, ''));
  const journal = await there.ended(turnId);
  expect(outcomeOf(journal)?.$case).toBe('completed');
  const result = dataOf(journal, 'agent.tool_result')[0];
  const { output, is_error, workspace_version } = result as Record<string, unknown>;
  return { output, is_error, workspace_version, tree: there.files.tree(sessionOf(turnId)) };
}

describe('read_file', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join('');

  it('shows lines behind their numbers', async () => {
    const files = { 'a/b.txt': 'one\r\n\ntwo\nthree' };
    const output = '1\tone\n2\t\n3\ttwo\n4\tthree';
    expect(await used('read_file', { path: 'a/b.txt' }, files)).toMatchObject({ output, is_error: false });
    expect(await used('read_file', { path: '/workspace/./a//b.txt' }, files)).toMatchObject({ output });
  });

  it('shows a part, and says where to go on', async () => {
    const files = { f: lines(5_000) };
    expect(await used('read_file', { path: 'f', offset: 4_999, limit: 2 }, files)).toMatchObject({
      output: '4999\tline 4999\n5000\tline 5000',
    });
    expect(await used('read_file', { path: 'f', offset: 3, limit: 2 }, files)).toMatchObject({
      output: '3\tline 3\n4\tline 4\n[There is more: go on with offset 5.]',
    });
    const { output } = await used('read_file', { path: 'f' }, files);
    expect(output).toMatch(/\n2000\tline 2000\n\[There is more: go on with offset 2001\.\]$/);
    expect(await used('read_file', { path: 'f', offset: 5_001 }, files)).toMatchObject({
      output: 'The file has only 5000 lines.',
      is_error: true,
    });
  });

  it('takes no memory for a line without an end, and shows its beginning', async () => {
    const { output } = await used('read_file', { path: 'f' }, { f: 'x'.repeat(5_000_000) });
    expect(output).toBe(`1\t${'x'.repeat(2_000)} [The line goes on.]`);
  });

  it.each([
    ['a binary file', 'bin', 'bin is a binary file of 5 bytes and is not shown.', false],
    ['an empty file', 'empty', 'empty is empty.', false],
    ['a directory', 'dir', 'dir is a directory; list_files shows what is in it.', true],
    ['nothing', 'gone', 'There is no file gone.', true],
    ['the workspace', '.', 'The path names the workspace, and no file in it.', true],
    [
      'what is outside',
      '/etc/passwd',
      '/etc/passwd is not in the workspace: paths are relative to /workspace.',
      true,
    ],
    ['what climbs out', 'dir/../../x', 'The path must not have "." or ".." as a part.', true],
  ])('of %s says so', async (_, path, output, is_error) => {
    const files = { bin: Buffer.from([1, 2, 0, 3, 4]), empty: '', 'dir/x': '' };
    expect(await used('read_file', { path }, files)).toMatchObject({ output, is_error });
  });

  it('does not follow a symlink', async () => {
    await using world = await open();
    world.files.link(sessionOf(`trn_${turns + 1}`), 'link', '/etc/passwd');
    expect(await used('read_file', { path: 'link' }, {}, world)).toMatchObject({
      output: 'link is a symlink to /etc/passwd. Symlinks are not followed here.',
    });
  });
});

describe('write_file', () => {
  it('writes a file, with the directories above it, and says which version there is now', async () => {
    expect(await used('write_file', { path: 'a/b/c.txt', content: 'ü\n' })).toEqual({
      output: 'Wrote 3 bytes to a/b/c.txt.',
      is_error: false,
      workspace_version: 2,
      tree: { a: null, 'a/b': null, 'a/b/c.txt': 'ü\n' },
    });
  });

  it('replaces a file and not a directory', async () => {
    expect((await used('write_file', { path: 'f', content: '' }, { f: 'old' })).tree).toEqual({ f: '' });
    expect(await used('write_file', { path: 'd', content: '' }, { 'd/f': 'old' })).toMatchObject({
      output: 'd is a directory.',
      is_error: true,
      tree: { d: null, 'd/f': 'old' },
    });
  });

  it('tells the model that there is no room', async () => {
    await using world = await open();
    world.files.maxBytes = 10;
    expect(await used('write_file', { path: 'f', content: 'x'.repeat(11) }, {}, world)).toMatchObject({
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

  it('replaces what is there once, literally', async () => {
    const files = { f: 'one\ntwo $x\nthree\n' };
    expect(await used('edit_file', edit('two $x', '$& $1'), files)).toMatchObject({
      output: 'Replaced 1 place in f: line 2.',
      is_error: false,
      workspace_version: 2,
      tree: { f: 'one\n$& $1\nthree\n' },
    });
  });

  it('replaces everything when it is told to', async () => {
    expect(await used('edit_file', edit('a', 'b', { replace_all: true }), { f: 'a\nxx\naa' })).toMatchObject({
      output: 'Replaced 3 places in f: lines 1, 3, 3.',
      tree: { f: 'b\nxx\nbb' },
    });
  });

  it.each([
    ['is not there', edit('nine', ''), /^old_text is not in f\./],
    ['is there more than once', edit('o', ''), /^old_text is in f 2 times \(lines 1, 2\)\./],
    ['is in no file', { ...edit('x', ''), path: 'g' }, /^There is no file g\./],
    ['is in a directory', { ...edit('x', ''), path: 'd' }, /^d is a directory\./],
    ['is in no text', { ...edit('x', ''), path: 'bin' }, /^bin is not UTF-8 text/],
  ])('changes nothing when it %s', async (_, input, output) => {
    const files = { f: 'one\ntwo', 'd/x': '', bin: Buffer.from([0xff, 0xfe, 0x78]) };
    const end = await used('edit_file', input, files);
    expect(end).toMatchObject({ output: expect.stringMatching(output), is_error: true });
    expect(end.tree.f).toBe('one\ntwo');
  });

  it('keeps what somebody else has written meanwhile', async () => {
    await using world = await open();
    const session = sessionOf(`trn_${turns + 1}`);
    world.files.before.writeContents = () => world.files.upload(session, { f: 'theirs' });
    expect(await used('edit_file', edit('one', 'two'), { f: 'one' }, world)).toMatchObject({
      output: 'Somebody else has changed f meanwhile and keeps it; your edit is in f.conflict-v1.',
      is_error: true,
      tree: { f: 'theirs', 'f.conflict-v1': 'two' },
    });
  });
});

describe('a change whose answer is lost', () => {
  const steps: [string, object, string][] = [
    ['write_file', { path: 'f', content: 'new' }, 'Wrote 3 bytes to f.'],
    ['edit_file', { path: 'f', old_text: 'one', new_text: 'new' }, 'Edited f.'],
    ['edit_file', { path: 'f', old_text: 'one', new_text: 'one new' }, 'Replaced 1 place in f: line 1.'],
  ];
  it.each(steps)('by %s of %j is repeated after a crash, and made once', async (tool, input, output) => {
    await using world = await open();
    const session = sessionOf('trn_1');
    world.files.upload(session, { f: 'one' });
    const reached = Promise.withResolvers<void>();
    world.files.after.changeWorkspace = () => {
      reached.resolve();
      return new Promise(() => {});
    };
    world.ask(script({ tool, input }), asked('trn_1', ''));
    await reached.promise;
    world.files.after.changeWorkspace = undefined;
    const before = world.files.tree(session);
    world.book.takeAway('trn_1');
    await world.crash();
    world.again('trn_1');
    const journal = await world.ended('trn_1');
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([
      { output, is_error: false, workspace_version: 2 },
    ]);
    expect(world.files.tree(session)).toEqual(before);
    expect(world.files.version(session)).toBe(2);
  });
});

describe('a change under a lease that is lost', () => {
  it('is not made, and nothing more is said', async () => {
    await using world = await open();
    world.files.before.changeWorkspace = () => world.book.takeAway('trn_1');
    world.ask(script({ tool: 'write_file', input: { path: 'f', content: 'x' } }), asked('trn_1', ''));
    await until('it was tried', () => world.files.changes.length === 1);
    world.ask({}, asked('trn_2', 'next'));
    await world.ended('trn_2');
    expect(world.files.tree(sessionOf('trn_1'))).toEqual({});
    expect(dataOf(world.book.of('trn_1'), 'agent.tool_result')).toEqual([]);
    expect(world.book.of('trn_1').outcomes).toEqual([]);
  });
});

describe('list_files', () => {
  const files = { 'src/a.ts': 'x', 'src/deep/b.ts': '', 'README.md': 'hello' };

  it('shows one directory, or everything below it', async () => {
    expect(await used('list_files', {}, files)).toMatchObject({ output: 'README.md\t5 bytes\nsrc/' });
    expect(await used('list_files', { path: 'src', recursive: true }, files)).toMatchObject({
      output: 'src/a.ts\t1 bytes\nsrc/deep/\nsrc/deep/b.ts\t0 bytes',
    });
  });

  it('says when there is more, nothing, or no such directory', async () => {
    const many = Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`f${1_000 + i}`, '']));
    const { output } = await used('list_files', { limit: 1_201 }, many);
    expect(String(output).split('\n')).toHaveLength(1_202);
    expect(output).toMatch(/f2200\t0 bytes\n\[There is more than these 1201\.\]$/);
    expect(await used('list_files', {})).toMatchObject({ output: 'The workspace is empty.' });
    expect(await used('list_files', { path: 'no' })).toMatchObject({ is_error: true });
  });

  it('shows symlinks and does not follow them', async () => {
    await using world = await open();
    world.files.link(sessionOf(`trn_${turns + 1}`), 'up', '../..');
    expect(await used('list_files', { recursive: true }, {}, world)).toMatchObject({ output: 'up -> ../..' });
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
    ['in files of a name', { pattern: 'const', glob: '*.js' }, 'src/b.js:1: const One = 3;'],
    ['in files of a path', { pattern: 'one', glob: 'src/**/*.{ts,js}' }, 'src/a.ts:1: const one = 1;'],
    ['in one file', { pattern: 'two', path: 'src/a.ts' }, 'src/a.ts:2: const two = 2;'],
    ['in a directory', { pattern: '.', path: 'bin' }, 'Nothing was found.'],
    ['whatever the case', { pattern: 'ONE', ignore_case: true, glob: '*.js' }, 'src/b.js:1: const One = 3;'],
    [
      'up to a limit',
      { pattern: 'const', limit: 1 },
      'src/a.ts:1: const one = 1;\n[There is more than these 1 lines.]',
    ],
  ])('finds lines %s', async (_, input, output) => {
    expect(await used('search_files', input, files)).toMatchObject({ output, is_error: false });
  });

  it('says what is wrong with a pattern', async () => {
    expect(await used('search_files', { pattern: '(' }, files)).toMatchObject({
      output: expect.stringMatching(/^The pattern is no regular expression: /),
      is_error: true,
    });
  });

  it('gives up a pattern that takes for ever, while others go on', async () => {
    await using world = await open();
    const session = sessionOf('trn_slow');
    world.files.upload(session, { f: `${'a'.repeat(40)}!` });
    world.ask(script({ tool: 'search_files', input: { pattern: '^(a|a)*$' } }), asked('trn_slow', ''));
    await until('it is sent', () => dataOf(world.book.of('trn_slow'), 'agent.tool_dispatched').length === 1);
    expect(await used('search_files', { pattern: 'x' }, { f: 'x' }, world)).toMatchObject({
      output: 'f:1: x',
    });
    await world.passTime('it has ended', () => world.book.of('trn_slow').outcomes.length > 0, 200);
    expect(dataOf(world.book.of('trn_slow'), 'agent.tool_result')).toMatchObject([
      { output: 'The pattern takes too long to match: make it simpler.', is_error: true },
    ]);
  });

  it('tells the model when files cannot be reached', async () => {
    await using world = await open();
    world.files.holds = () => {
      throw refuse('DEPENDENCY_UNAVAILABLE', 'the database is away');
    };
    expect(await used('search_files', { pattern: 'x' }, {}, world)).toMatchObject({
      output: 'the database is away',
      is_error: true,
    });
  });
});
