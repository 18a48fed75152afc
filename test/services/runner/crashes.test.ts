import { describe, expect, it } from 'vitest';
import type { ToolEffect } from '../../../lib/tools.ts';
import { until } from '../../support/wait.ts';
import { type CountingTool, calling, createCountingTool, held } from './counting.ts';
import { dataOf, lastTextOf, open, outcomeOf, type RunnerUnderTest, typesOf } from './open.ts';
import { asked, message } from './sessions.ts';

const END_TURN = { $case: 'completed', value: { stopReason: 'end_turn' } };
const ID = 'call_1_1';
const CUT_OFF = 'The tool was cut off while it ran. Whether it took effect is unknown.';

type Kind = { effect: ToolEffect; outcomeUnknown?: 'ask' | 'tell' };
const KINDS: [string, Kind][] = [
  ['reads', { effect: 'read' }],
  ['is idempotent', { effect: 'idempotent' }],
  ['acts once, and asks', { effect: 'once', outcomeUnknown: 'ask' }],
  ['acts once, and tells', { effect: 'once', outcomeUnknown: 'tell' }],
];

interface Scene extends RunnerUnderTest {
  count: CountingTool;
}

/** An agent is asked to call a tool of that kind once. */
async function begin(kind: Kind): Promise<Scene> {
  const count = createCountingTool(kind);
  const world = await open({ tools: [count.tool] });
  world.ask(calling('a'), asked('trn_1', ''));
  return Object.assign(world, { count });
}

/** The runner goes in the moment in which a report with such an event is, or is not, appended. */
async function crashAt(world: Scene, when: 'before' | 'after', type: string): Promise<void> {
  const reached = Promise.withResolvers<void>();
  const never = new Promise<void>(() => {});
  world.book[when].report = ({ reports }) => {
    const isThere = reports.some(({ events }) => events.some((event) => event.type === type));
    if (!isThere) return;
    reached.resolve();
    return never;
  };
  await reached.promise;
  world.book[when].report = undefined;
  world.book.takeAway('trn_1');
  await world.crash();
}

describe.each(KINDS)('a runner that goes, with a tool that %s,', (_, kind) => {
  const isHarmless = kind.effect !== 'once';

  it('before the message is kept: the model is asked again, the tool runs once', async () => {
    await using world = await begin(kind);
    await crashAt(world, 'before', 'agent.message');
    world.again('trn_1');
    expect(outcomeOf(await world.ended('trn_1'))).toEqual(END_TURN);
    expect(world.count.runs.length).toBe(1);
  });

  it('between the message and its calls: they are journalled now, and run once', async () => {
    const count = createCountingTool(kind);
    await using world = await open({ tools: [count.tool] });
    const call = { type: 'tool-call', toolCallId: ID, toolName: 'count', input: { label: 'a' } };
    const messages = [
      message('trn_1', 1, 'user.message', ''),
      message('trn_1', 2, 'agent.message', [{ type: 'text', text: 'wait' }, call]),
    ];
    world.ask(calling('a'), { turnId: 'trn_1', messages, attempt: 2 });
    const journal = await world.ended('trn_1');
    expect(typesOf(journal).slice(0, 3)).toEqual([
      'agent.tool_use',
      'agent.tool_dispatched',
      'agent.tool_result',
    ]);
    expect(count.runs.length).toBe(1);
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });

  it('before a call is dispatched: it runs once', async () => {
    const count = createCountingTool(kind);
    await using world = await open({ tools: [count.tool] });
    const call = { type: 'tool-call', toolCallId: ID, toolName: 'count', input: { label: 'a' } };
    const messages = [message('trn_1', 1, 'user.message', ''), message('trn_1', 2, 'agent.message', [call])];
    const openCalls = [{ toolUseId: ID, dispatches: 0, decision: undefined }];
    world.ask(calling('a'), { turnId: 'trn_1', messages, openCalls, attempt: 2 });
    const journal = await world.ended('trn_1');
    expect(dataOf(journal, 'agent.tool_dispatched')).toMatchObject([{ tool_use_id: ID, attempt: 1 }]);
    expect(count.runs.length).toBe(1);
    expect(journal.usage.toolCalls).toBe(1);
  });

  /** The call was dispatched and has no result; it had run so often before the runner went. */
  async function goesOn(world: Scene, before: number): Promise<void> {
    world.again('trn_1');
    const journal = await world.ended('trn_1');
    const dispatches = dataOf(journal, 'agent.tool_dispatched').map(({ attempt }) => attempt);
    if (isHarmless) {
      expect(outcomeOf(journal)).toEqual(END_TURN);
      expect(dispatches).toEqual([1, 2]);
      expect(world.count.runs.at(-1)).toMatchObject({ label: 'a', call: { attempt: 2 } });
    } else {
      expect(world.count.runs.length).toBe(before);
      expect(dispatches).toEqual([1]);
    }
    if (kind.outcomeUnknown === 'tell') {
      expect(dataOf(journal, 'agent.tool_result')).toMatchObject([{ output: CUT_OFF, is_error: true }]);
      expect(outcomeOf(journal)).toEqual(END_TURN);
    }
    if (kind.outcomeUnknown === 'ask') {
      const ask = { kind: 'outcome_unknown', toolUseId: ID, toolName: 'count', inputJson: '{"label":"a"}' };
      expect(outcomeOf(journal)).toEqual({ $case: 'blocked', value: { asks: [ask] } });
    }
    expect(journal.usage.toolCalls).toBe(1);
  }

  it('when the dispatch is in the journal and the tool has not run', async () => {
    await using world = await begin(kind);
    await crashAt(world, 'after', 'agent.tool_dispatched');
    expect(world.count.runs.length).toBe(0);
    await goesOn(world, 0);
  });

  it.each([false, true])('while the tool runs, deaf to its signal: %s', async (isDeaf) => {
    await using world = await begin(kind);
    const waiting = held(isDeaf);
    world.count.answer = waiting.answer;
    await until('it runs', () => world.count.runs.length === 1);
    world.book.takeAway('trn_1');
    await world.crash();
    expect(world.count.runs[0]?.call.signal.aborted).toBe(true);
    waiting.release();
    world.count.answer = (label) => `done ${label}`;
    await goesOn(world, 1);
  });

  it('when the tool has run and its result is not in the journal', async () => {
    await using world = await begin(kind);
    await crashAt(world, 'before', 'agent.tool_result');
    expect(world.count.runs.length).toBe(1);
    await goesOn(world, 1);
  });

  it('when the result is in the journal: the tool does not run again', async () => {
    await using world = await begin(kind);
    await crashAt(world, 'after', 'agent.tool_result');
    world.again('trn_1');
    const journal = await world.ended('trn_1');
    expect(world.count.runs.length).toBe(1);
    expect(lastTextOf(journal)).toBe('done a');
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });
});

describe('a call whose outcome is unknown', () => {
  /** It was asked about. */
  async function unknown(permission: 'allow' | 'ask' = 'allow', inputJson?: string): Promise<Scene> {
    const count = createCountingTool({ effect: 'once', permission });
    const world: Scene = Object.assign(await open({ tools: [count.tool] }), { count });
    world.ask(calling('a'), asked('trn_1', ''));
    if (permission === 'ask') {
      await world.ended('trn_1');
      world.again('trn_1', { [ID]: { decision: 'allow', ...(inputJson && { inputJson }) } });
    }
    await crashAt(world, 'before', 'agent.tool_result');
    const before = world.book.of('trn_1').outcomes.length;
    world.again('trn_1');
    const journal = await world.ended('trn_1', before + 1);
    expect(outcomeOf(journal)).toMatchObject({
      $case: 'blocked',
      value: { asks: [{ kind: 'outcome_unknown', inputJson: inputJson ?? '{"label":"a"}' }] },
    });
    expect(count.runs.length).toBe(1);
    return world;
  }

  async function settled(world: Scene, decision: string, reason = '') {
    const before = world.book.of('trn_1').outcomes.length;
    world.again('trn_1', { [ID]: { decision, reason } });
    const journal = await world.ended('trn_1', before + 1);
    return { journal, result: dataOf(journal, 'agent.tool_result')[0] };
  }

  it('is sent again when somebody says so', async () => {
    await using world = await unknown();
    const { journal, result } = await settled(world, 'retry');
    expect(result).toMatchObject({ output: 'done a', is_error: false });
    expect(world.count.runs.map(({ call }) => call.attempt)).toEqual([1, 2]);
    expect(journal.usage.toolCalls).toBe(1);
  });

  it('is not sent a second time by a word that was for the first', async () => {
    await using world = await unknown();
    world.again('trn_1', { [ID]: { decision: 'retry' } });
    await crashAt(world, 'before', 'agent.tool_result');
    world.again('trn_1');
    const journal = await world.ended('trn_1', 2);
    expect(outcomeOf(journal)).toMatchObject({
      $case: 'blocked',
      value: { asks: [{ kind: 'outcome_unknown' }] },
    });
    expect(world.count.runs.length).toBe(2);
    const { result } = await settled(world, 'retry');
    expect(result).toMatchObject({ output: 'done a' });
    expect(world.count.runs.map(({ call }) => call.attempt)).toEqual([1, 2, 3]);
  });

  it('is done when somebody says so', async () => {
    await using world = await unknown();
    const { journal, result } = await settled(world, 'mark_done', 'I have seen it');
    expect(result).toMatchObject({
      output: 'A person says that this was done; what the tool gave is not known. The reason: I have seen it',
      is_error: false,
    });
    expect(world.count.runs.length).toBe(1);
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });

  it('has failed when somebody says so', async () => {
    await using world = await unknown();
    const { result } = await settled(world, 'mark_failed');
    expect(result).toMatchObject({ output: 'A person says that this has failed.', is_error: true });
    expect(world.count.runs.length).toBe(1);
  });

  it('stays unknown when nobody says anything in time', async () => {
    await using world = await unknown();
    const { journal, result } = await settled(world, 'expired');
    expect(result).toMatchObject({
      output: `${CUT_OFF} Nobody decided in time whether to run it again.`,
      is_error: true,
    });
    expect(world.count.runs.length).toBe(1);
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });

  it('is one that an approval has allowed only once', async () => {
    await using world = await unknown('ask');
    expect((await settled(world, 'mark_done')).result).toMatchObject({ is_error: false });
    expect(world.count.runs.length).toBe(1);
  });

  it('is sent again with the input that somebody has given it', async () => {
    await using world = await unknown('ask', '{"label":"b"}');
    const { result } = await settled(world, 'retry');
    expect(result).toMatchObject({ output: 'done b', edited_input: { label: 'b' } });
    expect(world.count.runs.map(({ label }) => label)).toEqual(['b', 'b']);
  });
});

describe('a runner that stops in order', () => {
  it('leaves a running call of effect once to be asked about, and hands back the turn', async () => {
    await using world = await begin({ effect: 'once' });
    world.count.answer = held().answer;
    await until('it runs', () => world.count.runs.length === 1);
    const drained = world.runner.drain?.();
    await world.passTime('the turn is handed back', () => world.book.running === 0, 100);
    await drained;
    expect(outcomeOf(world.book.of('trn_1'))).toMatchObject({
      $case: 'retry',
      value: { error: { code: 'runner_stopping' } },
    });
    await world.crash();
    world.again('trn_1');
    expect(outcomeOf(await world.ended('trn_1', 2))).toMatchObject({ $case: 'blocked' });
    expect(world.count.runs.length).toBe(1);
  });

  it('waits for a call that is nearly done', async () => {
    await using world = await begin({ effect: 'once' });
    const waiting = held();
    world.count.answer = waiting.answer;
    await until('it runs', () => world.count.runs.length === 1);
    const drained = world.runner.drain?.();
    waiting.release();
    await drained;
    expect(outcomeOf(world.book.of('trn_1'))).toEqual(END_TURN);
  });
});
