import { describe, expect, it } from 'vitest';
import { openProvider } from '../../support/providers/server.ts';
import { until } from '../../support/wait.ts';
import { message, queuedTurn } from './fake-sessions.ts';
import { ALL_PROTOCOLS } from './model-step-fixture.ts';
import { dataOf, openTestRunner, outcomeOf, textOf, typesOf } from './runner-fixture.ts';

describe.each(ALL_PROTOCOLS)('a turn of $model', (protocol) => {
  async function begin() {
    const stack = new AsyncDisposableStack();
    const server = stack.use(await openProvider(protocol));
    const fixture = stack.use(await openTestRunner({ providers: protocol.settings(server.url) }));
    return { server, fixture, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  }

  it('runs tool calls and sends back their results with the thinking blocks', async () => {
    await using turn = await begin();
    turn.server.enqueue(
      {
        parts: [
          { thought: 'Two sums.', seal: 'c2VhbA==' },
          { text: 'I count.' },
          { call: 'call_a', name: 'calculator', input: '{"expression":"6*7"}' },
          { call: 'call_b', name: 'calculator', input: '{"expression":"2^10"}' },
        ],
        tokens: { input: 10, output: 5 },
      },
      { parts: [{ text: '42 and 1024.' }], tokens: { input: 20, output: 6 } },
    );
    turn.fixture.queueTurns(
      { model: protocol.model, system: 'You count.', maxSteps: 5 },
      queuedTurn('trn_1', 'How much?'),
    );
    const journal = await turn.fixture.waitForOutcome('trn_1');
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'end_turn' } });
    expect(dataOf(journal, 'agent.tool_use').map(({ tool_use_id, name }) => [tool_use_id, name])).toEqual([
      ['call_a', 'calculator'],
      ['call_b', 'calculator'],
    ]);
    expect(dataOf(journal, 'agent.thinking')).toMatchObject([{ content: [{ text: 'Two sums.' }] }]);
    expect(journal.usage).toMatchObject({ inputTokens: 30, outputTokens: 11, steps: 2, toolCalls: 2 });
    expect(turn.server.requests).toHaveLength(2);
    const body = JSON.stringify(turn.server.requests[1]?.body);
    for (const words of ['How much?', 'I count.', '6*7', '2^10', '42', '1024']) expect(body).toContain(words);
    expect(body.includes('"c2VhbA=="')).toBe(protocol.name !== 'local-1');
  });

  it('limits output tokens by its options and its budget', async () => {
    await using turn = await begin();
    turn.server.enqueue({ parts: [{ text: 'Yes.' }] }, { parts: [{ text: 'Yes.' }] });
    const modelOptionsJson = '{"max_output_tokens":500,"temperature":0.5}';
    const agent = { model: protocol.model, modelOptionsJson };
    turn.fixture.queueTurns(agent, queuedTurn('trn_1', 'Well?'));
    await turn.fixture.waitForOutcome('trn_1');
    turn.fixture.queueTurns(
      { ...agent, budget: { maxTokens: 50, maxTurnSeconds: undefined } },
      queuedTurn('trn_2', 'Well?'),
    );
    await turn.fixture.waitForOutcome('trn_2');
    const text = turn.server.requests.map(({ body }) => JSON.stringify(body));
    const limit = /"(?:max_tokens|max_output_tokens|maxTokens|maxOutputTokens)":(\d+)/;
    expect(text.map((body) => limit.exec(body)?.[1])).toEqual(['500', '50']);
  });

  it('is retried after the delay that the provider asks for', async () => {
    await using turn = await begin();
    const headers = { 'retry-after': '9' };
    turn.server.enqueue({ status: 429, kind: 'rate_limit_error', message: '', headers });
    turn.fixture.queueTurns({ model: protocol.model }, queuedTurn('trn_1', 'Well?'));
    expect(outcomeOf(await turn.fixture.waitForOutcome('trn_1'))).toMatchObject({
      $case: 'retry',
      value: { error: { code: 'model_rate_limited' }, delayMs: 9_000 },
    });
  });

  it('discards the text of an interrupted answer', async () => {
    await using turn = await begin();
    turn.server.enqueue({ parts: [{ text: 'It begins '.repeat(20) }], fault: 'cut' });
    turn.fixture.queueTurns({ model: protocol.model }, queuedTurn('trn_1', 'Well?'));
    const journal = await turn.fixture.waitForOutcome('trn_1');
    expect(outcomeOf(journal)).toMatchObject({
      $case: 'retry',
      value: { error: { code: 'model_stream_cut' } },
    });
    expect(typesOf(journal)).not.toContain('agent.message');
  });

  it('fails without the key in its message when the key is rejected', async () => {
    await using turn = await begin();
    turn.server.enqueue({ status: 401, kind: 'authentication_error', message: `wrong key ${protocol.key}` });
    turn.fixture.queueTurns({ model: protocol.model }, queuedTurn('trn_1', 'Well?'));
    const journal = await turn.fixture.waitForOutcome('trn_1');
    expect(outcomeOf(journal)).toMatchObject({
      $case: 'failed',
      value: { error: { code: 'model_unauthorized' } },
    });
    expect(JSON.stringify(journal)).not.toContain(protocol.key);
  });

  it('closes the connection to the provider when it is interrupted', async () => {
    await using turn = await begin();
    turn.server.enqueue({ parts: [{ text: 'It begins' }], fault: 'silence' });
    turn.fixture.queueTurns({ model: protocol.model }, queuedTurn('trn_1', 'Well?'));
    await until('the request has arrived', () => turn.server.requests.length === 1);
    turn.fixture.context.bus.publish('turns.interrupted', 'trn_1');
    await until('the connection is closed', () => turn.server.abandonedResponses === 1);
    expect(textOf(turn.fixture.sessions.journalOf('trn_1'))).toBeUndefined();
  });

  it('sends a placeholder for a user message without text, which stays empty in the journal', async () => {
    await using turn = await begin();
    turn.server.enqueue({ parts: [{ text: 'First.' }] }, { parts: [{ text: 'Second.' }] });
    turn.fixture.queueTurns({ model: protocol.model }, queuedTurn('trn_1', ''));
    expect(textOf(await turn.fixture.waitForOutcome('trn_1'))).toBe('First.');
    const messages = [
      message('trn_1', 1, 'user.message', ''),
      message('trn_1', 2, 'agent.message', 'First.'),
      message('trn_2', 3, 'user.message', [
        { type: 'text', text: '' },
        { type: 'text', text: '' },
      ]),
    ];
    turn.fixture.queueTurns({ model: protocol.model }, { turnId: 'trn_2', messages });
    expect(textOf(await turn.fixture.waitForOutcome('trn_2'))).toBe('Second.');
    expect(JSON.stringify(turn.server.requests[1]?.body).split('"."')).toHaveLength(3);
  });

  it('leaves out empty text beside other content', async () => {
    await using turn = await begin();
    turn.server.enqueue({ parts: [{ text: 'Seen.' }] });
    const content = [
      { type: 'text', text: '' },
      { type: 'text', text: 'What is this?' },
    ];
    const messages = [message('trn_1', 1, 'user.message', content)];
    turn.fixture.queueTurns({ model: protocol.model }, { turnId: 'trn_1', messages });
    expect(textOf(await turn.fixture.waitForOutcome('trn_1'))).toBe('Seen.');
    const body = JSON.stringify(turn.server.requests[0]?.body);
    expect(body).toContain('What is this?');
    expect(body).not.toContain('"."');
  });

  it('accepts a user message of blanks', async () => {
    await using turn = await begin();
    turn.server.enqueue({ parts: [{ text: 'Blank.' }] });
    turn.fixture.queueTurns({ model: protocol.model }, queuedTurn('trn_1', ' \n'));
    expect(textOf(await turn.fixture.waitForOutcome('trn_1'))).toBe('Blank.');
  });
});

describe('a turn of a provider without a key', () => {
  it('fails with model_key_missing', async () => {
    await using fixture = await openTestRunner();
    fixture.queueTurns({ model: 'anthropic/claude-sonnet-4-5' }, queuedTurn('trn_1', 'Well?'));
    expect(outcomeOf(await fixture.waitForOutcome('trn_1'))).toMatchObject({
      $case: 'failed',
      value: { error: { code: 'model_key_missing' } },
    });
  });
});

describe.each(['anthropic/claude-sonnet-4-5', 'openai/gpt-5-mini'])(
  'unknown model options of %s',
  (model) => {
    it('fail the turn with model_options_unknown, and the message names the option', async () => {
      await using fixture = await openTestRunner({
        providers: { anthropicApiKey: 'key', openaiApiKey: 'key' },
      });
      const modelOptionsJson = JSON.stringify({ temperature: 1, 'temp/rature': 0.5 });
      fixture.queueTurns({ model, modelOptionsJson }, queuedTurn('trn_1', 'hello'));
      const journal = await fixture.waitForOutcome('trn_1');
      expect(outcomeOf(journal)).toEqual({
        $case: 'failed',
        value: {
          error: {
            code: 'model_options_unknown',
            message: 'Unknown model option "temp/rature". Remove it from the model_options of the agent.',
          },
        },
      });
      expect(journal.events).toEqual([]);
    });
  },
);
