import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import { queuedTurn } from './fake-sessions.ts';
import { dataOf, lastTextOf, outcomeOf, typesOf } from './runner-fixture.ts';
import { openShellRunner, resultsOf, type ShellRunner } from './shell-runner.ts';

const SESSION = 'ses_00000000000000000000000001';
/** 1,040 files in 20 directories, which do not fit into one message. */
const MANY_FILES =
  'for i in $(seq 0 19); do mkdir d$i; for j in $(seq 1 52); do echo $i > d$i/f$j; done; done';

const hasEnded = (shell: ShellRunner, turnId: string) => shell.sessions.journalOf(turnId).outcomes.length > 0;

/** Waits until a command has created the file `runs`. The time limit of the command must not pass before. */
const commandRuns = (shell: ShellRunner) =>
  until('the command runs', () => shell.filesOnDisk().some((path) => path.endsWith('/runs')));

describe.each(TRANSPORTS)('rehearsal/shell, %s', (transport) => {
  it('runs each line with a prompt in its own step and answers with the output', async () => {
    await using shell = await openShellRunner({ transport });
    shell.startTurn({ turnId: 'trn_1', sessionId: SESSION }, 'echo one > f', 'cat f; echo two >> f', 'cat f');
    const journal = await shell.waitForOutcome('trn_1');
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
    expect(shell.files.checkouts).toEqual({ whole: 1, parts: 0 });
  });

  it('runs nothing without a line with a prompt', async () => {
    await using shell = await openShellRunner({ transport });
    shell.queueTurns({ model: 'rehearsal/shell' }, queuedTurn('trn_1', 'hello\n# $ no'));
    expect(lastTextOf(await shell.waitForOutcome('trn_1'))).toMatch(/nothing to run/);
    expect(shell.sandboxDirectories()).toEqual([]);
  });
});

describe('bash', () => {
  it('returns the output of both streams and the exit code', async () => {
    await using shell = await openShellRunner();
    const [result, succeeded] = await shell.run(SESSION, 'echo out; echo err >&2; exit 3', 'echo fine');
    expect(result).toMatchObject({
      output: 'out\nerr\n[exit code 3]',
      is_error: false,
      exit_code: 3,
      stderr_ranges: [{ start: 4, end: 8 }],
    });
    expect(succeeded).toMatchObject({ output: 'fine\n', exit_code: 0 });
    expect(succeeded).not.toHaveProperty('stderr_ranges');
  });

  it('reports progress before the result', async () => {
    await using shell = await openShellRunner();
    shell.startTurn({ turnId: 'trn_1', sessionId: SESSION }, 'echo ü; echo err >&2');
    const journal = await shell.waitForOutcome('trn_1');
    const deltas = dataOf(journal, 'agent.tool_progress').map(({ output_delta: delta }) => delta);
    expect(deltas.join('')).toBe('ü\nerr\n');
    expect(typesOf(journal).lastIndexOf('agent.tool_progress')).toBeLessThan(
      typesOf(journal).indexOf('agent.tool_result'),
    );
  });

  it('sees uploaded files and saves file kinds, modes and removals', async () => {
    await using shell = await openShellRunner();
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

  it('saves a directory that was removed and created again', async () => {
    await using shell = await openShellRunner();
    const make = 'mkdir -p d/e; echo x > d/e/f; echo y > d/g';
    const results = await shell.run(SESSION, make, 'rm -r d/e', `rm -r d; ${make}`, 'rm -r d', make);
    expect(results.map((one) => one.workspace_version)).toEqual([1, 2, 3, 4, 5]);
    expect(shell.files.tree(SESSION)).toEqual({ d: null, 'd/e': null, 'd/e/f': 'x\n', 'd/g': 'y\n' });
    shell.files.upload(SESSION, { 'd/e': null });
    expect((await shell.run(SESSION, make))[0]).toMatchObject({ workspace_version: 7 });
  });

  it('saves many files as one workspace version', async () => {
    await using shell = await openShellRunner();
    const [result] = await shell.run(
      SESSION,
      'for i in $(seq 1 300); do mkdir -p d$((i % 10)); echo $i > d$((i % 10))/f$i; done',
    );
    expect(result).toMatchObject({ is_error: false, workspace_version: 1 });
    expect(Object.keys(shell.files.tree(SESSION))).toHaveLength(310);
    expect(shell.files.changes).toHaveLength(1);
  });

  it('saves more files than one message holds as one workspace version', async () => {
    await using shell = await openShellRunner();
    const [result] = await shell.run(SESSION, MANY_FILES);
    expect(result).toMatchObject({ output: '', is_error: false, workspace_version: 1 });
    expect(Object.keys(shell.files.tree(SESSION))).toHaveLength(1_060);
    expect(shell.files.commits).toEqual([[1_000, 60]]);
  });

  it('cuts long output in the middle and saves all of it in the workspace', async () => {
    await using shell = await openShellRunner();
    const [result, other] = await shell.run(SESSION, 'seq 1 20000', 'wc -c < .outputs/call_1_1.txt');
    expect(result?.output.length).toBeLessThan(31_000);
    expect(result?.output).toMatch(
      /^1\n2\n.*\n\[The middle of 108894 bytes is left out; see \.outputs\/call_1_1\.txt\]\n.*\n20000\n$/s,
    );
    expect(other?.output.trim()).toBe('108894');
    expect(shell.files.tree(SESSION)['.outputs/call_1_1.txt']).toMatch(/^1\n2\n.*\n19999\n20000\n$/s);
  });

  it('saves only the beginning and the end of very long output', async () => {
    await using shell = await openShellRunner();
    const [result] = await shell.run(SESSION, 'seq 1 400000');
    expect(result?.output).toMatch(/^1\n.*The middle of 2688895 bytes is left out.*\n400000\n$/s);
    const savedOutput = shell.files.tree(SESSION)['.outputs/call_1_1.txt'] ?? '';
    expect(savedOutput).toMatch(/\n\[1640319 bytes were left out here\]\n/);
    expect(savedOutput.length).toBeLessThan(1_100_000);
  });

  it('does not follow a symlink at the path of the output file', async () => {
    await using shell = await openShellRunner();
    await shell.run(SESSION, 'mkdir other; ln -s other .outputs', 'seq 1 20000');
    expect(Object.keys(shell.files.tree(SESSION))).toEqual(['.outputs', '.outputs/call_1_2.txt', 'other']);
  });

  it('is killed at its time limit and its changes are saved', async () => {
    await using shell = await openShellRunner();
    const command = 'echo begun > f; touch runs; while true; do sleep 0.05; done';
    shell.queueTurns(
      {
        model: 'rehearsal/script',
        modelOptionsJson: JSON.stringify({
          steps: [{ tool: 'bash', input: { command, timeout_seconds: 1 } }],
        }),
      },
      { ...queuedTurn('trn_1', ''), sessionId: SESSION },
    );
    await commandRuns(shell);
    await shell.advanceUntil('the turn has ended', () => hasEnded(shell, 'trn_1'), 20);
    expect(resultsOf(shell.sessions.journalOf('trn_1'))).toMatchObject([
      {
        output: '[The command and its processes were killed because they did not end within 1 seconds.]',
        is_error: true,
        workspace_version: 1,
      },
    ]);
    expect(shell.files.tree(SESSION)).toEqual({ f: 'begun\n', runs: '' });
  });

  it('uses the time limit of the environment instead of the tool timeout', async () => {
    await using shell = await openShellRunner();
    shell.agents.changeEnvironment({ sandbox: { provider: 'auto', image: '', commandTimeoutSeconds: 1 } });
    shell.startTurn({ turnId: 'trn_1', sessionId: SESSION }, 'touch runs; while true; do sleep 0.05; done');
    await commandRuns(shell);
    await shell.advanceUntil('the turn has ended', () => hasEnded(shell, 'trn_1'), 20);
    expect(resultsOf(shell.sessions.journalOf('trn_1'))[0]?.output).toMatch(/did not end within 1 seconds/);
  });

  it('waits for approval when the agent requires it', async () => {
    await using shell = await openShellRunner();
    const runtime = { model: 'rehearsal/shell', tools: [{ name: 'bash', permission: 'ask' }] };
    shell.queueTurns(runtime, { ...queuedTurn('trn_1', '$ echo hi'), sessionId: SESSION });
    expect(outcomeOf(await shell.waitForOutcome('trn_1'))).toMatchObject({
      $case: 'blocked',
      value: { asks: [{ kind: 'tool', toolName: 'bash' }] },
    });
    expect(shell.sandboxDirectories()).toEqual([]);
    shell.requeue('trn_1', { call_1_1: { decision: 'allow' } });
    expect(lastTextOf(await shell.waitForOutcome('trn_1', 2))).toBe('hi\n');
  });
});

describe('changes that cannot be saved', () => {
  it('are reported for unsupported names, and the other changes are saved', async () => {
    await using shell = await openShellRunner();
    const [result] = await shell.run(SESSION, 'touch .ahs-mine good');
    expect(result?.output).toMatch(/^\[\.ahs-mine was not saved: .*\]$/);
    expect(shell.files.tree(SESSION)).toEqual({ good: '' });
  });

  it('are reported once until they change', async () => {
    await using shell = await openShellRunner();
    const results = await shell.run(
      SESSION,
      'touch .ahs-one',
      'touch f .ahs-two',
      'rm .ahs-one',
      'touch .ahs-one',
      'echo done',
    );
    const reported = results.map(({ output }) => String(output).match(/\.ahs-\w+(?= was not saved)/g) ?? []);
    expect(reported).toEqual([['.ahs-one'], ['.ahs-two'], [], ['.ahs-one'], []]);
    expect((await shell.run(SESSION, 'echo done'))[0]?.output).toBe('done\n');
  });

  it('are reported for at most twenty paths', async () => {
    await using shell = await openShellRunner();
    const [result] = await shell.run(SESSION, 'for i in $(seq 1 30); do touch .ahs-$i; done');
    const lines = String(result?.output).split('\n');
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe('[… and 10 more.]');
  });

  it('are reported when the workspace is full, and the sandbox is reset to the workspace', async () => {
    await using shell = await openShellRunner();
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
      /^done\n\[The workspace changes of the command were not saved: .*2000 bytes/s,
    );
    expect(next).toMatchObject({ output: 'kept\nkept', is_error: false, workspace_version: 1 });
  });

  it('are all discarded when a change of several parts is refused', async () => {
    await using shell = await openShellRunner();
    shell.files.upload(SESSION, { kept: 'kept' });
    shell.files.maxBytes = 2_000;
    const [result, next] = await shell.run(SESSION, `rm kept; ${MANY_FILES}`, 'ls; cat kept');
    expect(result?.is_error).toBe(true);
    expect(result?.output).toMatch(/^\[The workspace changes of the command were not saved: /);
    expect(next).toMatchObject({ output: 'kept\nkept', is_error: false, workspace_version: 1 });
    expect(shell.files.version(SESSION)).toBe(1);
  });

  it('are saved once when the answer to a change of several parts is lost', async () => {
    await using shell = await openShellRunner();
    shell.files.after.commitChanges = () => {
      shell.files.after = {};
      throw refuse('DEPENDENCY_UNAVAILABLE', 'The connection was lost.');
    };
    shell.startTurn({ turnId: 'trn_1', sessionId: SESSION }, MANY_FILES);
    await until('the changes are sent', () => shell.files.commits.length > 0);
    await shell.advanceUntil('the turn has ended', () => hasEnded(shell, 'trn_1'), 20);
    expect(resultsOf(shell.sessions.journalOf('trn_1'))).toMatchObject([
      { is_error: false, workspace_version: 1 },
    ]);
    expect(shell.files.commits).toHaveLength(2);
    expect(shell.files.version(SESSION)).toBe(1);
  });

  it('are reported as unknown when no attempt to save them gets an answer', async () => {
    await using shell = await openShellRunner();
    shell.files.after.changeWorkspace = () => {
      throw refuse('DEPENDENCY_UNAVAILABLE', 'The connection was lost.');
    };
    shell.files.before.changeWorkspace = () => {
      if (shell.files.version(SESSION) > 0)
        throw refuse('DEPENDENCY_UNAVAILABLE', 'The connection was lost.');
    };
    shell.startTurn({ turnId: 'trn_1', sessionId: SESSION }, 'echo saved > f');
    await until('the changes are sent', () => shell.files.changes.length > 0);
    await shell.advanceUntil('the turn has ended', () => hasEnded(shell, 'trn_1'), 1_000);
    const [result] = resultsOf(shell.sessions.journalOf('trn_1'));
    expect(result?.output).toMatch(
      /^\[It is unknown whether the workspace changes of the command were saved: /,
    );
    expect(result?.is_error).toBe(true);
    expect(shell.files.tree(SESSION)).toEqual({ f: 'saved\n' });
  });

  it('are saved to a conflict file when another writer changed the same path', async () => {
    await using shell = await openShellRunner();
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
      '[gone was changed by another writer at the same time, so it was not removed.]\n' +
        '[f was changed by another writer at the same time. Your version was saved as f.conflict-v1.]',
    );
    expect(result).toMatchObject({ is_error: false, workspace_version: 3 });
    expect(next?.output).toBe('theirstheirs too2new3\n');
    expect(shell.files.tree(SESSION)).toMatchObject({ f: 'theirs', 'f.conflict-v1': 'mine\n', mine: '3\n' });
  });

  it('do not include changes of another writer to other paths, which the next command sees', async () => {
    await using shell = await openShellRunner();
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
