import { describe, expect, it } from 'vitest';
import type { ScriptedResponse } from '../../support/providers/protocol.ts';
import { openProvider } from '../../support/providers/server.ts';
import { until } from '../../support/wait.ts';
import { type Journal, NO_USAGE, queuedTurn } from './fake-sessions.ts';
import { PROTOCOLS } from './model-step-fixture.ts';
import { dataOf, openTestRunner, outcomeOf, script } from './runner-fixture.ts';

const NOTHING = {
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  estimated: false,
};
/** About 1,000 tokens. */
const LONG = 'A question about the river. '.repeat(125);

const finishedUsage = (journal: Journal) =>
  dataOf<{ usage: typeof NOTHING }>(journal, 'model.request_finished').map(({ usage }) => usage);

describe.each(PROTOCOLS)('the usage of a request to $model', (protocol) => {
  async function begin() {
    const stack = new AsyncDisposableStack();
    const server = stack.use(await openProvider(protocol));
    const fixture = stack.use(await openTestRunner({ providers: protocol.settings(server.url) }));
    return { server, fixture, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  }

  async function runTurn(response: ScriptedResponse, text = LONG): Promise<Journal> {
    await using turn = await begin();
    turn.server.enqueue(response);
    turn.fixture.queueTurns({ model: protocol.model }, queuedTurn('trn_1', text));
    return await turn.fixture.waitForOutcome('trn_1');
  }

  it('has cached, cache-written and reasoning tokens', async () => {
    const written = protocol.name === 'anthropic' ? 30 : 0;
    const tokens = { input: 100, output: 20, cached: 60, written, reasoning: 8 };
    const journal = await runTurn({ parts: [{ text: 'Hm.' }], tokens });
    expect(finishedUsage(journal)).toEqual([
      {
        ...{ input_tokens: 100, output_tokens: 20, cached_input_tokens: 60, cache_write_tokens: written },
        ...{ reasoning_tokens: 8, estimated: false },
      },
    ]);
    expect(journal.usage).toMatchObject({
      ...{ inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, cacheWriteTokens: written },
      ...{ reasoningTokens: 8, estimated: false, steps: 1 },
    });
  });

  it.each<[string, ScriptedResponse]>([
    ['a refused request', { status: 400, kind: 'invalid_request_error', message: 'No.' }],
    ['a request over the rate limit', { status: 429, kind: 'rate_limit_error', message: 'Later.' }],
    ['an overloaded provider', { status: 503, kind: 'overloaded_error', message: 'Later.' }],
    ['an error before any output', { parts: [], fault: 'overloaded' }],
  ])('is nothing for %s', async (_, response) => {
    const journal = await runTurn(response);
    expect(finishedUsage(journal)).toEqual([NOTHING]);
    expect(journal.usage).toMatchObject({ ...NO_USAGE, activeMs: expect.any(Number) });
  });

  it.each<[string, ScriptedResponse]>([
    ['that was cut', { parts: [{ text: 'a'.repeat(350) }], fault: 'cut' }],
    ['that ended early', { parts: [{ text: 'a'.repeat(350) }], fault: 'end' }],
    ['with an error behind its output', { parts: [{ text: 'a'.repeat(350) }], fault: 'overloaded' }],
  ])('is estimated for an answer %s', async (_, response) => {
    const journal = await runTurn(response);
    const [usage = NOTHING] = finishedUsage(journal);
    expect(usage).toMatchObject({ estimated: true, output_tokens: 100, cached_input_tokens: 0 });
    expect(usage.input_tokens).toBeGreaterThan(700);
    expect(usage.input_tokens).toBeLessThan(3_000);
    expect(journal.usage).toMatchObject({
      ...{ estimated: true, inputTokens: usage.input_tokens, outputTokens: 100, steps: 0 },
    });
  });

  it('counts thinking and the input of calls of an answer that was cut', async () => {
    const journal = await runTurn({
      parts: [
        { thought: 't'.repeat(350), seal: 'c2VhbA==' },
        { call: 'call_1', name: 'calculator', input: `{"expression":"${'1+'.repeat(166)}1"}` },
      ],
      fault: 'cut',
    });
    expect(finishedUsage(journal)).toMatchObject([
      { reasoning_tokens: 100, output_tokens: 200, estimated: true },
    ]);
  });

  it('is estimated when the connection is lost behind the request', async () => {
    const [usage = NOTHING] = finishedUsage(await runTurn('reset'));
    expect(usage).toMatchObject({ estimated: true, output_tokens: 0 });
    expect(usage.input_tokens).toBeGreaterThan(700);
  });

  it('is in the reports while the answer is streamed, so that an interrupt counts it', async () => {
    await using turn = await begin();
    turn.server.enqueue({ parts: [{ text: 'b'.repeat(700) }], fault: 'silence' });
    turn.fixture.queueTurns({ model: protocol.model }, queuedTurn('trn_1', LONG));
    const journal = turn.fixture.sessions.journalOf('trn_1');
    await until('the request has arrived', () => turn.server.requests.length === 1);
    await turn.fixture.advanceUntil(
      'the output is reported',
      () => journal.openModelRequest?.usage?.outputTokens === 200,
    );
    expect(journal.openModelRequest).toMatchObject({
      model: protocol.model,
      usage: { estimated: true, steps: 0 },
    });
    expect(journal.openModelRequest?.usage?.inputTokens).toBeGreaterThan(700);
    expect(finishedUsage(journal)).toEqual([]);
  });
});

describe('the usage of a turn', () => {
  it('is nothing when the provider cannot be reached', async () => {
    const [protocol] = PROTOCOLS as [(typeof PROTOCOLS)[0]];
    await using fixture = await openTestRunner({ providers: protocol.settings('http://127.0.0.1:1') });
    fixture.queueTurns({ model: protocol.model }, queuedTurn('trn_1', LONG));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(outcomeOf(journal)).toMatchObject({ value: { error: { code: 'model_unreachable' } } });
    expect(finishedUsage(journal)).toEqual([NOTHING]);
  });

  it('has the parts that a rehearsal model reports', async () => {
    await using fixture = await openTestRunner();
    const usage = { input_tokens: 90, output_tokens: 9, cached_input_tokens: 50, cache_write_tokens: 40 };
    fixture.queueTurns(
      script({ text: 'Hm.' }, { usage: { ...usage, reasoning_tokens: 3 } }),
      queuedTurn('trn_1', 'Well?'),
    );
    const journal = await fixture.waitForOutcome('trn_1');
    expect(finishedUsage(journal)).toEqual([{ ...usage, reasoning_tokens: 3, estimated: false }]);
  });

  it('sums a cut request and the request that repeats it, and stays estimated', async () => {
    await using fixture = await openTestRunner();
    const agent = script(
      { text: 'one two' },
      { error: { kind: 'cut_stream' }, times: 1 },
      { usage: { input_tokens: 7, output_tokens: 2 } },
    );
    fixture.queueTurns(agent, queuedTurn('trn_1', LONG));
    const first = await fixture.waitForOutcome('trn_1');
    const [cut = NOTHING] = finishedUsage(first);
    expect(cut).toMatchObject({ estimated: true, output_tokens: 2 });
    fixture.sessions.requeue('trn_1');
    fixture.context.bus.publish('turns.ready', '');
    const journal = await fixture.waitForOutcome('trn_1', 2);
    expect(outcomeOf(journal)).toMatchObject({ $case: 'completed' });
    expect(journal.usage).toMatchObject({
      ...{ estimated: true, inputTokens: cut.input_tokens + 7, outputTokens: 4, steps: 1 },
    });
  });
});
