import { describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { createCountingTool } from './counting.ts';
import { dataOf, open, outcomeOf, script } from './open.ts';
import { asked, type Journal } from './sessions.ts';
import { openShell, resultsOf } from './shell.ts';

const SESSION = 'ses_00000000000000000000000001';
const END_TURN = { $case: 'completed', value: { stopReason: 'end_turn' } };

const dispatchedIn = (journal: Journal) =>
  dataOf(journal, 'agent.tool_dispatched').map(({ tool_use_id }) => tool_use_id);

/** Tools that say when they begin, and end when they are told. */
async function openTold() {
  const releases = new Map<string, () => void>();
  const begun: string[] = [];
  const answer = (label: string) => {
    begun.push(label);
    return new Promise<string>((resolve) => releases.set(label, () => resolve(`done ${label}`)));
  };
  const read = createCountingTool({ name: 'look', effect: 'read', usesWorkspace: true });
  const write = createCountingTool({
    name: 'touch',
    effect: 'once',
    usesWorkspace: true,
    outcomeUnknown: 'tell',
  });
  const other = createCountingTool({ name: 'think', effect: 'read' });
  for (const { tool } of [read, write, other]) tool.run = ({ label }) => answer(String(label));
  const world = await open({ tools: [read.tool, write.tool, other.tool] });
  return {
    world,
    begun,
    /** Has a turn make these calls in one step, each as the name of a tool and a label. */
    ask(...calls: string[]) {
      const steps = calls.map((call) => {
        const [tool, label] = call.split(' ');
        return { tool, input: { label } };
      });
      world.ask(script(...steps, { text: 'done' }), asked('trn_1', ''));
    },
    begin: (...labels: string[]) =>
      until(`${labels} have begun`, () => labels.every((one) => begun.includes(one))),
    end(...labels: string[]) {
      for (const label of labels) releases.get(label)?.();
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

describe('calls of one step that use the workspace', () => {
  it('find what those before them have done', async () => {
    await using shell = await openShell();
    const steps = [
      { tool: 'write_file', input: { path: 'f', content: 'one\ntwo\n' } },
      { tool: 'edit_file', input: { path: 'f', old_text: 'two', new_text: 'three' } },
      { tool: 'read_file', input: { path: 'f' } },
      { tool: 'bash', input: { command: 'cat f; echo four >> f' } },
      { tool: 'edit_file', input: { path: 'f', old_text: 'four', new_text: 'five' } },
      { tool: 'bash', input: { command: 'cat f' } },
    ];
    shell.ask(script(...steps, { text: 'done' }), { ...asked('trn_1', ''), sessionId: SESSION });
    const journal = await shell.ended('trn_1');
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

  it('read beside each other, and change one after the other', async () => {
    await using told = await openTold();
    told.ask('look a', 'look b', 'touch c', 'touch d', 'look e', 'look f', 'think g');
    await told.begin('a', 'b', 'g');
    told.end('b');
    const { book } = told.world;
    await until('one has ended', () => dataOf(book.of('trn_1'), 'agent.tool_result').length === 1);
    expect(told.begun.length).toBe(3);
    told.end('a');
    await told.begin('c');
    expect(dispatchedIn(book.of('trn_1')).toSorted()).toEqual([
      'call_1_1',
      'call_1_2',
      'call_1_3',
      'call_1_7',
    ]);
    told.end('c');
    await told.begin('d');
    expect(told.begun.length).toBe(5);
    told.end('d', 'g');
    await told.begin('e', 'f');
    told.end('e', 'f');
    expect(outcomeOf(await told.world.ended('trn_1'))).toEqual(END_TURN);
  });

  it('are not said to be with their tools before their turn has come, should the runner go', async () => {
    await using told = await openTold();
    told.ask('touch a', 'touch b');
    await told.begin('a');
    await told.world.crash();
    told.world.again('trn_1');
    await told.begin('b');
    told.end('b');
    const journal = await told.world.ended('trn_1');
    expect(told.begun).toEqual(['a', 'b']);
    expect(resultsOf(journal)).toMatchObject([
      { tool_use_id: 'call_1_1', output: expect.stringMatching(/^The tool was cut off/) },
      { tool_use_id: 'call_1_2', output: 'done b' },
    ]);
  });
});

describe('a call that somebody has to decide about', () => {
  it('holds up what would have to wait for it, and nothing else', async () => {
    await using shell = await openShell();
    const steps = [
      { tool: 'bash', input: { command: 'echo one > f' } },
      { tool: 'write_file', input: { path: 'f', content: 'two\n' } },
      { tool: 'bash', input: { command: 'cat f' } },
      { tool: 'read_file', input: { path: 'f' } },
      { tool: 'calculator', input: { expression: '6 * 7' } },
    ];
    const tools = [{ name: 'write_file', permission: 'ask' }];
    shell.ask(
      { ...script(...steps, { text: 'done' }), tools },
      { ...asked('trn_1', ''), sessionId: SESSION },
    );
    const asking = await shell.ended('trn_1');
    expect(outcomeOf(asking)).toMatchObject({
      $case: 'blocked',
      value: { asks: [{ toolUseId: 'call_1_2' }] },
    });
    expect(dispatchedIn(asking).toSorted()).toEqual(['call_1_1', 'call_1_5']);
    shell.again('trn_1', { call_1_2: { decision: 'allow' } });
    const journal = await shell.ended('trn_1', 2);
    expect(resultsOf(journal).slice(2)).toMatchObject([
      { tool_use_id: 'call_1_2', output: 'Wrote 4 bytes to f.' },
      { tool_use_id: 'call_1_3', output: 'two\n' },
      { tool_use_id: 'call_1_4', output: '1\ttwo' },
    ]);
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });

  it('lets others read that only reads itself', async () => {
    await using shell = await openShell();
    shell.files.upload(SESSION, { f: 'one\n' });
    const steps = [
      { tool: 'list_files', input: {} },
      { tool: 'read_file', input: { path: 'f' } },
      { tool: 'write_file', input: { path: 'f', content: 'two\n' } },
      { tool: 'read_file', input: { path: 'f' } },
    ];
    const tools = [{ name: 'list_files', permission: 'ask' }];
    shell.ask(
      { ...script(...steps, { text: 'done' }), tools },
      { ...asked('trn_1', ''), sessionId: SESSION },
    );
    expect(dispatchedIn(await shell.ended('trn_1'))).toEqual(['call_1_2']);
    shell.again('trn_1', { call_1_1: { decision: 'deny' } });
    expect(resultsOf(await shell.ended('trn_1', 2)).at(-1)).toMatchObject({ output: '1\ttwo' });
  });
});
