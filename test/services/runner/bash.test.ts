import { describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../../support/context.ts';
import { dataOf, lastTextOf, outcomeOf, typesOf } from './open.ts';
import { asked } from './sessions.ts';
import { openShell, resultsOf } from './shell.ts';

const SESSION = 'ses_00000000000000000000000001';

describe.each(TRANSPORTS)('rehearsal/shell, %s', (transport) => {
  it('has every line with a prompt carried out, one a step, and says what they printed', async () => {
    await using shell = await openShell({ transport });
    shell.tell({ turnId: 'trn_1', sessionId: SESSION }, 'echo one > f', 'cat f; echo two >> f', 'cat f');
    const journal = await shell.ended('trn_1');
    expect(outcomeOf(journal)).toMatchObject({ value: { stopReason: 'end_turn' } });
    expect(dataOf(journal, 'agent.tool_use').map(({ input }) => input)).toEqual([
      { command: 'echo one > f' },
      { command: 'cat f; echo two >> f' },
      { command: 'cat f' },
    ]);
    expect(resultsOf(journal)).toMatchObject([
      { output: '', is_error: false, workspace_version: 1 },
      { output: 'one\n', workspace_version: 2 },
      { output: 'one\ntwo\n', workspace_version: 2 },
    ]);
    expect(lastTextOf(journal)).toBe('one\n\none\ntwo\n');
    expect(journal.usage).toMatchObject({ steps: 4, toolCalls: 3 });
    expect(shell.files.tree(SESSION)).toEqual({ f: 'one\ntwo\n' });
    expect(shell.files.checkouts).toEqual({ whole: 1, parts: 2 });
  });

  it('runs nothing without such a line', async () => {
    await using shell = await openShell({ transport });
    shell.ask({ model: 'rehearsal/shell' }, asked('trn_1', 'hello\n# $ no'));
    expect(lastTextOf(await shell.ended('trn_1'))).toMatch(/nothing to run/);
    expect(shell.onDisk()).toEqual([]);
  });
});

describe('bash', () => {
  it('tells what came from both streams, and how it ended', async () => {
    await using shell = await openShell();
    const [result] = await shell.run(SESSION, 'echo out; echo err >&2; false');
    expect(result).toMatchObject({ output: 'out\nerr\n[exit code 1]', is_error: false });
  });

  it('shows its output before its result', async () => {
    await using shell = await openShell();
    shell.tell({ turnId: 'trn_1', sessionId: SESSION }, 'echo ü; echo err >&2');
    const journal = await shell.ended('trn_1');
    const shown = dataOf(journal, 'agent.tool_progress').map(({ output_delta: delta }) => delta);
    expect(shown.join('')).toBe('ü\nerr\n');
    expect(typesOf(journal).lastIndexOf('agent.tool_progress')).toBeLessThan(
      typesOf(journal).indexOf('agent.tool_result'),
    );
  });

  it('finds what was uploaded, and keeps kinds, modes and removals', async () => {
    await using shell = await openShell();
    shell.files.upload(SESSION, { 'a/one': '1', 'a/two': '2', gone: 'x' });
    shell.files.link(SESSION, 'link', 'a/one');
    const [result] = await shell.run(
      SESSION,
      'cat link; rm -r gone a/two; mkdir empty; printf "echo hi" > run; chmod +x run; ln -s run again',
    );
    expect(result).toMatchObject({ output: '1', workspace_version: 3 });
    expect(shell.files.tree(SESSION)).toEqual({
      a: null,
      'a/one': '1',
      again: '→ run',
      empty: null,
      link: '→ a/one',
      run: 'echo hi',
    });
    expect(shell.files.entry(SESSION, 'run')).toMatchObject({ executable: true });
  });

  it('keeps a directory that was removed and has come again', async () => {
    await using shell = await openShell();
    const make = 'mkdir -p d/e; echo x > d/e/f; echo y > d/g';
    const results = await shell.run(SESSION, make, 'rm -r d/e', `rm -r d; ${make}`, 'rm -r d', make);
    expect(results.map((one) => one.workspace_version)).toEqual([1, 2, 3, 4, 5]);
    expect(shell.files.tree(SESSION)).toEqual({ d: null, 'd/e': null, 'd/e/f': 'x\n', 'd/g': 'y\n' });
    shell.files.upload(SESSION, { 'd/e': null });
    expect((await shell.run(SESSION, make))[0]).toMatchObject({ workspace_version: 7 });
  });

  it('makes one version of many files', async () => {
    await using shell = await openShell();
    const [result] = await shell.run(
      SESSION,
      'for i in $(seq 1 300); do mkdir -p d$((i % 10)); echo $i > d$((i % 10))/f$i; done',
    );
    expect(result).toMatchObject({ is_error: false, workspace_version: 1 });
    expect(Object.keys(shell.files.tree(SESSION))).toHaveLength(310);
    expect(shell.files.changes).toHaveLength(1);
  });

  it('is cut in the middle when it prints much, and the whole is in the workspace', async () => {
    await using shell = await openShell();
    const [result, other] = await shell.run(SESSION, 'seq 1 20000', 'wc -c < .outputs/call_1_1.txt');
    expect(result?.output.length).toBeLessThan(31_000);
    expect(result?.output).toMatch(
      /^1\n2\n.*\n\[The middle of 108894 bytes is left out; see \.outputs\/call_1_1\.txt\]\n.*\n20000\n$/s,
    );
    expect(other?.output.trim()).toBe('108894');
    expect(shell.files.tree(SESSION)['.outputs/call_1_1.txt']).toMatch(/^1\n2\n.*\n19999\n20000\n$/s);
  });

  it('keeps the beginning and the end of an output without measure', async () => {
    await using shell = await openShell();
    const [result] = await shell.run(SESSION, 'seq 1 400000');
    expect(result?.output).toMatch(/^1\n.*The middle of 2688895 bytes is left out.*\n400000\n$/s);
    const kept = shell.files.tree(SESSION)['.outputs/call_1_1.txt'] ?? '';
    expect(kept).toMatch(/\n\[1640319 bytes were left out here\]\n/);
    expect(kept.length).toBeLessThan(1_100_000);
  });

  it('does not write through links that are planted where the output goes', async () => {
    await using shell = await openShell();
    await shell.run(SESSION, 'mkdir other; ln -s other .outputs', 'seq 1 20000');
    expect(Object.keys(shell.files.tree(SESSION))).toEqual(['.outputs', '.outputs/call_1_2.txt', 'other']);
  });

  it('is ended when its time is up, and what it has changed is kept', async () => {
    await using shell = await openShell();
    const command = 'echo begun > f; while true; do sleep 0.05; done';
    shell.ask(
      {
        model: 'rehearsal/script',
        modelOptionsJson: JSON.stringify({
          steps: [{ tool: 'bash', input: { command, timeout_seconds: 1 } }],
        }),
      },
      { ...asked('trn_1', ''), sessionId: SESSION },
    );
    await shell.passTime('the turn has ended', () => shell.book.of('trn_1').outcomes.length > 0, 20);
    expect(resultsOf(shell.book.of('trn_1'))).toMatchObject([
      {
        output: '[The command did not end within 1 seconds and was ended, with all that it had started.]',
        is_error: true,
        workspace_version: 1,
      },
    ]);
    expect(shell.files.tree(SESSION)).toEqual({ f: 'begun\n' });
  });

  it('has the time that its environment gives, whatever the runner gives to tools', async () => {
    await using shell = await openShell();
    shell.agents.environment({ sandbox: { provider: 'auto', image: '', commandTimeoutSeconds: 1 } });
    shell.tell({ turnId: 'trn_1', sessionId: SESSION }, 'while true; do sleep 0.05; done');
    await shell.passTime('the turn has ended', () => shell.book.of('trn_1').outcomes.length > 0, 20);
    expect(resultsOf(shell.book.of('trn_1'))[0]?.output).toMatch(/did not end within 1 seconds/);
  });

  it('waits for an approval where it needs one', async () => {
    await using shell = await openShell();
    const runtime = { model: 'rehearsal/shell', tools: [{ name: 'bash', permission: 'ask' }] };
    shell.ask(runtime, { ...asked('trn_1', '$ echo hi'), sessionId: SESSION });
    expect(outcomeOf(await shell.ended('trn_1'))).toMatchObject({
      $case: 'blocked',
      value: { asks: [{ kind: 'tool', toolName: 'bash' }] },
    });
    expect(shell.onDisk()).toEqual([]);
    shell.again('trn_1', { call_1_1: { decision: 'allow' } });
    expect(lastTextOf(await shell.ended('trn_1', 2))).toBe('hi\n');
  });
});

describe('what cannot be kept', () => {
  it('of names and kinds that a workspace does not have is said, and the rest is kept', async () => {
    await using shell = await openShell();
    const [result] = await shell.run(SESSION, 'touch .ahs-mine good');
    expect(result?.output).toMatch(/^\[\.ahs-mine is not kept: .*\]$/);
    expect(shell.files.tree(SESSION)).toEqual({ good: '' });
  });

  it('is said once, until it changes', async () => {
    await using shell = await openShell();
    const results = await shell.run(
      SESSION,
      'touch .ahs-one',
      'touch f .ahs-two',
      'rm .ahs-one',
      'touch .ahs-one',
      'echo done',
    );
    const said = results.map(({ output }) => String(output).match(/\.ahs-\w+(?= is not kept)/g) ?? []);
    expect(said).toEqual([['.ahs-one'], ['.ahs-two'], [], ['.ahs-one'], []]);
    expect((await shell.run(SESSION, 'echo done'))[0]?.output).toBe('done\n');
  });

  it('is not said of everything where there is much', async () => {
    await using shell = await openShell();
    const [result] = await shell.run(SESSION, 'for i in $(seq 1 30); do touch .ahs-$i; done');
    const lines = String(result?.output).split('\n');
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe('[The same goes for 10 more.]');
  });

  it('for want of room is said, and the sandbox has what the workspace has', async () => {
    await using shell = await openShell();
    shell.files.upload(SESSION, { kept: 'kept' });
    shell.files.maxBytes = 1_000;
    const [result, next] = await shell.run(
      SESSION,
      'rm kept; printf "%2000s" x > big; echo done',
      'ls; cat kept',
    );
    expect(result?.is_error).toBe(true);
    expect(result?.workspace_version).toBeUndefined();
    expect(result?.output).toMatch(
      /^done\n\[What the command has changed in the workspace is not kept: .*2000 bytes/s,
    );
    expect(next).toMatchObject({ output: 'kept\nkept', is_error: false, workspace_version: 1 });
  });

  it('because somebody else has changed it stands beside theirs', async () => {
    await using shell = await openShell();
    shell.files.upload(SESSION, { f: 'old', gone: 'x', other: '1' });
    shell.files.before.writeContents = () => {
      shell.files.before.writeContents = undefined;
      shell.files.upload(SESSION, { f: 'theirs', gone: 'theirs too', other: '2', extra: 'new' });
    };
    const [result, next] = await shell.run(
      SESSION,
      'echo mine > f; rm gone; echo 3 > mine',
      'cat f gone other extra mine',
    );
    expect(result?.output).toBe(
      '[Somebody else has changed gone meanwhile, so it was not removed.]\n' +
        '[Somebody else has changed f meanwhile and keeps it; what the command wrote is in f.conflict-v1.]',
    );
    expect(result).toMatchObject({ is_error: false, workspace_version: 3 });
    expect(next?.output).toBe('theirstheirs too2new3\n');
    expect(shell.files.tree(SESSION)).toMatchObject({ f: 'theirs', 'f.conflict-v1': 'mine\n', mine: '3\n' });
  });

  it('is what it changed beside somebody else’s changes, which are there for the next command', async () => {
    await using shell = await openShell();
    shell.files.upload(SESSION, { f: 'old' });
    shell.files.before.writeContents = () => {
      shell.files.before.writeContents = undefined;
      shell.files.upload(SESSION, { extra: 'new' });
    };
    const [, next] = await shell.run(SESSION, 'echo mine > f', 'cat f extra');
    expect(next).toMatchObject({ output: 'mine\nnew', workspace_version: 3 });
    expect(shell.files.checkouts).toEqual({ whole: 1, parts: 1 });
  });
});
