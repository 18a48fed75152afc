import { describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { type Journal, queuedTurn } from './fake-sessions.ts';
import { createRecordingTool } from './recording-tool.ts';
import { dataOf, openTestRunner, outcomeOf, script } from './runner-fixture.ts';
import { openShellRunner, resultsOf } from './shell-runner.ts';

const SESSION = 'ses_00000000000000000000000001';
const END_TURN = { $case: 'completed', value: { stopReason: 'end_turn' } };

const dispatchedIn = (journal: Journal) =>
  dataOf(journal, 'agent.tool_dispatched').map(({ tool_use_id }) => tool_use_id);

/** Opens a runner with tools that record when they begin, and end on request. */
async function openControlledTools() {
  const releases = new Map<string, () => void>();
  const begun: string[] = [];
  const answer = (label: string) => {
    begun.push(label);
    return new Promise<string>((resolve) => releases.set(label, () => resolve(`done ${label}`)));
  };
  const read = createRecordingTool({ name: 'look', effect: 'read', usesWorkspace: true });
  const write = createRecordingTool({
    name: 'touch',
    effect: 'once',
    usesWorkspace: true,
    outcomeUnknown: 'tell',
  });
  const other = createRecordingTool({ name: 'think', effect: 'read' });
  for (const { tool } of [read, write, other]) tool.run = ({ label }) => answer(String(label));
  const fixture = await openTestRunner({ tools: [read.tool, write.tool, other.tool] });
  return {
    fixture,
    begun,
    /** Queues a turn that makes these calls in one step. A call is a tool name and a label. */
    queueCalls(...calls: string[]) {
      const steps = calls.map((call) => {
        const [tool, label] = call.split(' ');
        return { tool, input: { label } };
      });
      fixture.queueTurns(script(...steps, { text: 'done' }), queuedTurn('trn_1', ''));
    },
    waitUntilBegun: (...labels: string[]) =>
      until(`${labels} have begun`, () => labels.every((one) => begun.includes(one))),
    end(...labels: string[]) {
      for (const label of labels) releases.get(label)?.();
    },
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

describe('calls of one step that use the workspace', () => {
  it('see the changes of the calls before them', async () => {
    await using shell = await openShellRunner();
    const steps = [
      { tool: 'write_file', input: { path: 'f', content: 'one\ntwo\n' } },
      { tool: 'edit_file', input: { path: 'f', old_text: 'two', new_text: 'three' } },
      { tool: 'read_file', input: { path: 'f' } },
      { tool: 'bash', input: { command: 'cat f; echo four >> f' } },
      { tool: 'edit_file', input: { path: 'f', old_text: 'four', new_text: 'five' } },
      { tool: 'bash', input: { command: 'cat f' } },
    ];
    shell.queueTurns(script(...steps, { text: 'done' }), { ...queuedTurn('trn_1', ''), sessionId: SESSION });
    const journal = await shell.waitForOutcome('trn_1');
    expect(resultsOf(journal)).toMatchObject([
      { tool_use_id: 'call_1_1', output: 'Wrote 8 bytes to f.', workspace_version: 1 },
      { tool_use_id: 'call_1_2', output: 'Replaced 1 place in f: line 2.', workspace_version: 2 },
      { tool_use_id: 'call_1_3', output: '1\tone\n2\tthree' },
      { tool_use_id: 'call_1_4', output: 'one\nthree\n', workspace_version: 3 },
      { tool_use_id: 'call_1_5', output: 'Replaced 1 place in f: line 3.', workspace_version: 4 },
      { tool_use_id: 'call_1_6', output: 'one\nthree\nfive\n', workspace_version: 4 },
    ]);
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });

  it('run readers concurrently and writers one after the other', async () => {
    await using controlled = await openControlledTools();
    controlled.queueCalls('look a', 'look b', 'touch c', 'touch d', 'look e', 'look f', 'think g');
    await controlled.waitUntilBegun('a', 'b', 'g');
    controlled.end('b');
    const { sessions } = controlled.fixture;
    await until(
      'one call has ended',
      () => dataOf(sessions.journalOf('trn_1'), 'agent.tool_result').length === 1,
    );
    expect(controlled.begun.length).toBe(3);
    controlled.end('a');
    await controlled.waitUntilBegun('c');
    expect(dispatchedIn(sessions.journalOf('trn_1')).toSorted()).toEqual([
      'call_1_1',
      'call_1_2',
      'call_1_3',
      'call_1_7',
    ]);
    controlled.end('c');
    await controlled.waitUntilBegun('d');
    expect(controlled.begun.length).toBe(5);
    controlled.end('d', 'g');
    await controlled.waitUntilBegun('e', 'f');
    controlled.end('e', 'f');
    expect(outcomeOf(await controlled.fixture.waitForOutcome('trn_1'))).toEqual(END_TURN);
  });

  it('are not dispatched before their place in the order, so a crash does not affect them', async () => {
    await using controlled = await openControlledTools();
    controlled.queueCalls('touch a', 'touch b');
    await controlled.waitUntilBegun('a');
    await controlled.fixture.crash();
    controlled.fixture.requeue('trn_1');
    await controlled.waitUntilBegun('b');
    controlled.end('b');
    const journal = await controlled.fixture.waitForOutcome('trn_1');
    expect(controlled.begun).toEqual(['a', 'b']);
    expect(resultsOf(journal)).toMatchObject([
      { tool_use_id: 'call_1_1', output: expect.stringMatching(/^The tool was cut off/) },
      { tool_use_id: 'call_1_2', output: 'done b' },
    ]);
  });
});

describe('a tool call that waits for approval', () => {
  it('delays only calls that depend on it', async () => {
    await using shell = await openShellRunner();
    const steps = [
      { tool: 'bash', input: { command: 'echo one > f' } },
      { tool: 'write_file', input: { path: 'f', content: 'two\n' } },
      { tool: 'bash', input: { command: 'cat f' } },
      { tool: 'read_file', input: { path: 'f' } },
      { tool: 'calculator', input: { expression: '6 * 7' } },
    ];
    const tools = [{ name: 'write_file', permission: 'ask' }];
    shell.queueTurns(
      { ...script(...steps, { text: 'done' }), tools },
      { ...queuedTurn('trn_1', ''), sessionId: SESSION },
    );
    const blocked = await shell.waitForOutcome('trn_1');
    expect(outcomeOf(blocked)).toMatchObject({
      $case: 'blocked',
      value: { asks: [{ toolUseId: 'call_1_2' }] },
    });
    expect(dispatchedIn(blocked).toSorted()).toEqual(['call_1_1', 'call_1_5']);
    shell.requeue('trn_1', { call_1_2: { decision: 'allow' } });
    const journal = await shell.waitForOutcome('trn_1', 2);
    expect(resultsOf(journal).slice(2)).toMatchObject([
      { tool_use_id: 'call_1_2', output: 'Wrote 4 bytes to f.' },
      { tool_use_id: 'call_1_3', output: 'two\n' },
      { tool_use_id: 'call_1_4', output: '1\ttwo' },
    ]);
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });

  it('does not delay other readers when it only reads', async () => {
    await using shell = await openShellRunner();
    shell.files.upload(SESSION, { f: 'one\n' });
    const steps = [
      { tool: 'list_files', input: {} },
      { tool: 'read_file', input: { path: 'f' } },
      { tool: 'write_file', input: { path: 'f', content: 'two\n' } },
      { tool: 'read_file', input: { path: 'f' } },
    ];
    const tools = [{ name: 'list_files', permission: 'ask' }];
    shell.queueTurns(
      { ...script(...steps, { text: 'done' }), tools },
      { ...queuedTurn('trn_1', ''), sessionId: SESSION },
    );
    expect(dispatchedIn(await shell.waitForOutcome('trn_1'))).toEqual(['call_1_2']);
    shell.requeue('trn_1', { call_1_1: { decision: 'deny' } });
    expect(resultsOf(await shell.waitForOutcome('trn_1', 2)).at(-1)).toMatchObject({ output: '1\ttwo' });
  });
});
