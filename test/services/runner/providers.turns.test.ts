import { describe, expect, it } from 'vitest';
import { openProvider } from '../../support/providers/server.ts';
import { until } from '../../support/wait.ts';
import { WIRES } from './ask.ts';
import { dataOf, open, outcomeOf, textOf, typesOf } from './open.ts';
import { asked } from './sessions.ts';

describe.each(WIRES)('a turn of $model', (wire) => {
  async function begin() {
    const stack = new AsyncDisposableStack();
    const server = stack.use(await openProvider(wire));
    const world = stack.use(await open({ providers: wire.settings(server.url) }));
    return { server, world, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  }

  it('runs the tools that the model calls, and tells it what they gave and what it thought', async () => {
    await using at = await begin();
    at.server.answers(
      {
        says: [
          { thought: 'Two sums.', seal: 'c2VhbA==' },
          { text: 'I count.' },
          { call: 'call_a', name: 'calculator', input: '{"expression":"6*7"}' },
          { call: 'call_b', name: 'calculator', input: '{"expression":"2^10"}' },
        ],
        tokens: { input: 10, output: 5 },
      },
      { says: [{ text: '42 and 1024.' }], tokens: { input: 20, output: 6 } },
    );
    at.world.ask({ model: wire.model, system: 'You count.', maxSteps: 5 }, asked('trn_1', 'How much?'));
    const journal = await at.world.ended('trn_1');
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'end_turn' } });
    expect(dataOf(journal, 'agent.tool_use').map(({ tool_use_id, name }) => [tool_use_id, name])).toEqual([
      ['call_a', 'calculator'],
      ['call_b', 'calculator'],
    ]);
    expect(dataOf(journal, 'agent.thinking')).toMatchObject([{ content: [{ text: 'Two sums.' }] }]);
    expect(journal.usage).toMatchObject({ inputTokens: 30, outputTokens: 11, steps: 2, toolCalls: 2 });
    expect(at.server.requests).toHaveLength(2);
    const body = JSON.stringify(at.server.requests[1]?.body);
    for (const words of ['How much?', 'I count.', 'call_a', 'call_b', '42', '1024'])
      expect(body).toContain(words);
    expect(body.includes('"c2VhbA=="')).toBe(wire.name !== 'local-1');
  });

  it('asks for as little as its options and its budget leave', async () => {
    await using at = await begin();
    at.server.answers({ says: [{ text: 'Yes.' }] }, { says: [{ text: 'Yes.' }] });
    const modelOptionsJson = '{"max_output_tokens":500,"temperature":0.5}';
    const agent = { model: wire.model, modelOptionsJson };
    at.world.ask(agent, asked('trn_1', 'Well?'));
    await at.world.ended('trn_1');
    at.world.ask({ ...agent, budget: { maxTokens: 50, maxTurnSeconds: undefined } }, asked('trn_2', 'Well?'));
    await at.world.ended('trn_2');
    const limits = at.server.requests.map(({ body }) => body.max_tokens ?? body.max_output_tokens);
    expect(limits).toEqual([500, 50]);
  });

  it('comes back when the provider says', async () => {
    await using at = await begin();
    const headers = { 'retry-after': '9' };
    at.server.answers({ status: 429, kind: 'rate_limit_error', message: '', headers });
    at.world.ask({ model: wire.model }, asked('trn_1', 'Well?'));
    expect(outcomeOf(await at.world.ended('trn_1'))).toMatchObject({
      $case: 'retry',
      value: { error: { code: 'model_rate_limited' }, delayMs: 9_000 },
    });
  });

  it('discards what was said before its answer broke off', async () => {
    await using at = await begin();
    at.server.answers({ says: [{ text: 'It begins '.repeat(20) }], trouble: 'cut' });
    at.world.ask({ model: wire.model }, asked('trn_1', 'Well?'));
    const journal = await at.world.ended('trn_1');
    expect(outcomeOf(journal)).toMatchObject({
      $case: 'retry',
      value: { error: { code: 'model_stream_cut' } },
    });
    expect(typesOf(journal)).not.toContain('agent.message');
  });

  it('ends when its key is refused, in words without it', async () => {
    await using at = await begin();
    at.server.answers({ status: 401, kind: 'authentication_error', message: `wrong key ${wire.key}` });
    at.world.ask({ model: wire.model }, asked('trn_1', 'Well?'));
    const journal = await at.world.ended('trn_1');
    expect(outcomeOf(journal)).toMatchObject({
      $case: 'failed',
      value: { error: { code: 'model_unauthorized' } },
    });
    expect(JSON.stringify(journal)).not.toContain(wire.key);
  });

  it('leaves the provider within a moment when it is interrupted', async () => {
    await using at = await begin();
    at.server.answers({ says: [{ text: 'It begins' }], trouble: 'silence' });
    at.world.ask({ model: wire.model }, asked('trn_1', 'Well?'));
    await until('the request has come', () => at.server.requests.length === 1);
    at.world.context.bus.publish('turns.interrupted', 'trn_1');
    await until('the connection is closed', () => at.server.left === 1);
    expect(textOf(at.world.book.of('trn_1'))).toBeUndefined();
  });
});

describe('a turn of a provider without a key', () => {
  it('ends, and says whose affair that is', async () => {
    await using world = await open();
    world.ask({ model: 'anthropic/claude-sonnet-4-5' }, asked('trn_1', 'Well?'));
    expect(outcomeOf(await world.ended('trn_1'))).toMatchObject({
      $case: 'failed',
      value: { error: { code: 'model_key_missing' } },
    });
  });
});
