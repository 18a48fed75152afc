import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { brokenInvariants } from '../support/invariants.ts';
import { openWorkshop, TTL_SECONDS, USER, type Workshop } from '../support/workshop.ts';

const call = (value: unknown) => ({ tool: 'count', input: { value } });
const END = { text: 'The last one: {{last_tool_output}}' };

describe('approvals, from the model to the tool and back', () => {
  let shop: Workshop;
  beforeEach(async () => {
    shop = await openWorkshop();
  });
  afterEach(async () => {
    const broken = await brokenInvariants(shop.databaseUrl);
    await shop[Symbol.asyncDispose]();
    expect(broken).toEqual([]);
  });

  const resultsOf = async (sessionId: string) =>
    (await shop.journal(sessionId))
      .filter(({ type }) => type === 'agent.tool_result')
      .map(({ data }) => data);
  const lastText = async (sessionId: string) => {
    const { data } = (await shop.journal(sessionId)).findLast(({ type }) => type === 'agent.message') ?? {};
    return (data?.content as { text: string }[] | undefined)?.map(({ text }) => text).join('');
  };
  const values = () => shop.counted.map(({ input }) => input.value);

  it('run what was allowed, and tell the model what was denied and why', async () => {
    const sessionId = await shop.begin([call(1), call(2), END], 'ask');
    await shop.reaches(sessionId, 'idle', true);
    expect(shop.counted).toEqual([]);
    const [one, two] = await shop.pending(sessionId);
    await shop.decide(one, 'allow');
    await shop.decide(two, 'deny', { reason: 'too much' });
    await shop.reaches(sessionId, 'idle');
    expect(values()).toEqual([1]);
    expect(await lastText(sessionId)).toContain('too much');
    const results = await resultsOf(sessionId);
    expect(results.map(({ is_error }) => is_error).sort()).toEqual([false, true]);
  });

  it('run nothing while one of several is not decided, over any number of restarts', async () => {
    const sessionId = await shop.begin([call(1), call(2), call(3), END], 'ask');
    await shop.reaches(sessionId, 'idle', true);
    const asked = await shop.pending(sessionId);
    for (const [index, approval] of asked.entries()) {
      expect(values()).toEqual([]);
      await shop.restart();
      expect(await shop.pending(sessionId)).toHaveLength(asked.length - index);
      await shop.decide(approval, 'allow');
    }
    await shop.reaches(sessionId, 'idle');
    expect(values().sort()).toEqual([1, 2, 3]);
  });

  it('run the edited input and no other, and tell the model', async () => {
    const sessionId = await shop.begin([call(1), END], 'ask');
    await shop.reaches(sessionId, 'idle', true);
    await shop.decide((await shop.pending(sessionId))[0], 'allow', { editedInputJson: '{ "value": 7 }' });
    await shop.reaches(sessionId, 'idle');
    expect(values()).toEqual([7]);
    expect(await resultsOf(sessionId)).toMatchObject([{ edited_input: { value: 7 }, output: 'counted 7' }]);
    expect(await lastText(sessionId)).toContain('{"value":7}');
  });

  it('run nothing when what somebody has edited is no input of the tool', async () => {
    const sessionId = await shop.begin([call(1), END], 'ask');
    await shop.reaches(sessionId, 'idle', true);
    await shop.decide((await shop.pending(sessionId))[0], 'allow', { editedInputJson: '{"value":"x"}' });
    await shop.reaches(sessionId, 'idle');
    expect(values()).toEqual([]);
    expect(await resultsOf(sessionId)).toMatchObject([{ is_error: true }]);
  });

  it('count as denied when their time is over, and nobody is said to have denied them', async () => {
    const sessionId = await shop.begin([call(1), END], 'ask');
    await shop.reaches(sessionId, 'idle', true);
    shop.clock.advance(TTL_SECONDS * 1_000);
    await shop.reaches(sessionId, 'idle');
    expect(values()).toEqual([]);
    expect(await lastText(sessionId)).toContain('Nobody decided in time');
    expect(await lastText(sessionId)).not.toContain('person');
  });

  it('are given up when the turn is interrupted, and the next message is answered', async () => {
    const sessionId = await shop.begin([call(1), END], 'ask');
    await shop.reaches(sessionId, 'idle', true);
    const [approval] = await shop.pending(sessionId);
    await shop.edge.interruptSession({ sessionId }, { caller: USER });
    await expect(shop.decide(approval, 'allow')).rejects.toMatchObject({ code: 'APPROVAL_ALREADY_DECIDED' });
    const contentJson = JSON.stringify([{ type: 'text', text: 'again' }]);
    const message = { sessionId, contentJson, busyPolicy: 'enqueue', idempotencyKey: '' };
    await shop.edge.sendMessage(message, { caller: USER });
    await shop.reaches(sessionId, 'idle', true);
    await shop.decide((await shop.pending(sessionId))[0], 'allow');
    await shop.reaches(sessionId, 'idle');
    expect(values()).toEqual([1]);
  });

  it('ask again, once for each crash, before a tool is run a second time', async () => {
    const sessionId = await shop.begin([call(1), END], 'allow');
    for (const runs of [1, 2, 3]) {
      const release = shop.hold();
      await shop.pass('the tool runs', async () => shop.counted.length === runs);
      await shop.crash();
      release();
      await shop.restart();
      await shop.reaches(sessionId, 'idle', true);
      const [approval] = await shop.pending(sessionId);
      expect(approval).toMatchObject({ kind: 'outcome_unknown', toolName: 'count' });
      await shop.decide(approval, 'retry');
    }
    await shop.reaches(sessionId, 'idle');
    expect(shop.counted.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
    expect(await lastText(sessionId)).toBe('The last one: counted 1');
  });

  it.each([
    ['mark_done', false],
    ['mark_failed', true],
  ])('take a person’s word for what became of a call: %s', async (decision, isError) => {
    const sessionId = await shop.begin([call(1), END], 'allow');
    const release = shop.hold();
    await shop.pass('the tool runs', async () => shop.counted.length === 1);
    await shop.crash();
    release();
    await shop.restart();
    await shop.reaches(sessionId, 'idle', true);
    await shop.decide((await shop.pending(sessionId))[0], decision, { reason: 'I looked' });
    await shop.reaches(sessionId, 'idle');
    expect(await resultsOf(sessionId)).toMatchObject([{ is_error: isError }]);
    expect(await lastText(sessionId)).toContain('I looked');
    expect(shop.counted).toHaveLength(1);
  });

  it('do not survive a crash as an approval of the second run', async () => {
    const sessionId = await shop.begin([call(1), END], 'ask');
    await shop.reaches(sessionId, 'idle', true);
    await shop.decide((await shop.pending(sessionId))[0], 'allow', { editedInputJson: '{"value":5}' });
    const release = shop.hold();
    await shop.pass('the tool runs', async () => shop.counted.length === 1);
    await shop.crash();
    release();
    await shop.restart();
    await shop.reaches(sessionId, 'idle', true);
    expect(values()).toEqual([5]);
    const [approval] = await shop.pending(sessionId);
    expect(approval).toMatchObject({ kind: 'outcome_unknown', inputJson: '{"value":5}' });
    await shop.decide(approval, 'retry');
    await shop.reaches(sessionId, 'idle');
    expect(values()).toEqual([5, 5]);
  });
});
