import { describe, expect, it } from 'vitest';
import { ModelOutages } from '../../../services/runner/models/model-outages.ts';
import { createFakeClock } from '../../support/clock.ts';
import { compatible } from '../../support/providers/compatible.ts';
import { openProvider } from '../../support/providers/server.ts';
import { message, queuedTurn } from './fake-sessions.ts';
import { ALL_PROTOCOLS } from './model-step-fixture.ts';
import { storedPart } from './part-events.ts';
import { createRecordingTool } from './recording-tool.ts';
import { dataOf, openTestRunner, outcomeOf, script, textOf } from './runner-fixture.ts';

const MAX_FAILURES = 2;
const OVERLOADED = { error: { kind: 'overloaded' }, times: 100 };

/** An agent whose first model fails, with these further models. */
function agentWith(others: string[], error: object = OVERLOADED) {
  return { ...script(error), models: { names: ['rehearsal/script', ...others] } };
}

/** A turn whose model has failed so often that its next failure is the last. */
function lastRetry(content: string) {
  return { ...queuedTurn('trn_1', content), failures: MAX_FAILURES, maxFailures: MAX_FAILURES };
}

describe('a turn of an agent with several models', () => {
  it('continues with the next model after the last retry, and journals the reason', async () => {
    await using fixture = await openTestRunner();
    fixture.queueTurns(agentWith(['rehearsal/echo']), lastRetry('hello'));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(outcomeOf(journal)).toMatchObject({
      $case: 'retry',
      value: { error: { code: 'model_overloaded' }, fallbackModel: 'rehearsal/echo' },
    });
    expect(dataOf(journal, 'model.request_finished')).toMatchObject([
      {
        model: 'rehearsal/script',
        is_error: true,
        fallback: {
          reason: { code: 'model_overloaded', message: 'The model provider is overloaded.' },
          to: 'rehearsal/echo',
          skipped: [],
        },
      },
    ]);
  });

  it.each(ALL_PROTOCOLS)('continues from $model and to $model after an outage', async (protocol) => {
    await using server = await openProvider(protocol);
    await using fixture = await openTestRunner({ providers: protocol.settings(server.url) });
    const { model } = protocol;
    server.enqueue({ status: 503, kind: 'UNAVAILABLE', message: 'down' }, { parts: [{ text: 'back' }] });
    fixture.queueTurns({ model, models: { names: [model, 'rehearsal/echo'] } }, lastRetry('hello'));
    expect(outcomeOf(await fixture.waitForOutcome('trn_1'))).toMatchObject({
      $case: 'retry',
      value: { error: { code: 'model_overloaded' }, fallbackModel: 'rehearsal/echo' },
    });
    const turn = { ...queuedTurn('trn_2', 'hello'), fallbackModel: model, maxFailures: MAX_FAILURES };
    fixture.queueTurns({ model: 'rehearsal/echo', models: { names: ['rehearsal/echo', model] } }, turn);
    expect(textOf(await fixture.waitForOutcome('trn_2'))).toBe('back');
  });

  it('continues with the next model when the last retry takes too long', async () => {
    await using fixture = await openTestRunner({ stepTimeoutSeconds: 1 });
    const slow = { text: 'too late', delay_ms: 3_600_000 };
    fixture.queueTurns(agentWith(['rehearsal/echo'], slow), lastRetry('hello'));
    await fixture.advanceUntil(
      'the step has timed out',
      () => fixture.sessions.journalOf('trn_1').outcomes.length > 0,
    );
    const journal = await fixture.waitForOutcome('trn_1');
    expect(outcomeOf(journal)).toMatchObject({
      $case: 'retry',
      value: { error: { code: 'model_timeout' }, fallbackModel: 'rehearsal/echo' },
    });
    expect(dataOf(journal, 'model.request_finished')).toMatchObject([
      { fallback: { reason: { code: 'model_timeout' }, to: 'rehearsal/echo' } },
    ]);
  });

  it('runs with the model to which it has fallen back', async () => {
    await using fixture = await openTestRunner();
    const turn = {
      ...queuedTurn('trn_1', 'hello'),
      fallbackModel: 'rehearsal/echo',
      maxFailures: MAX_FAILURES,
    };
    fixture.queueTurns(agentWith(['rehearsal/echo']), turn);
    const journal = await fixture.waitForOutcome('trn_1');
    expect(textOf(journal)).toBe('hello');
    expect(dataOf(journal, 'agent.message')).toMatchObject([{ model: 'rehearsal/echo' }]);
  });

  it.each([
    ['with retries left', { failures: MAX_FAILURES - 1, maxFailures: MAX_FAILURES }, OVERLOADED],
    ['of a sessions service of an older release', { failures: MAX_FAILURES }, OVERLOADED],
    [
      'after a refused request',
      { failures: MAX_FAILURES, maxFailures: MAX_FAILURES },
      { error: { kind: 'bad_request' }, times: 100 },
    ],
  ])('keeps its model %s', async (_, counts, error) => {
    await using fixture = await openTestRunner();
    fixture.queueTurns(agentWith(['rehearsal/echo'], error), { ...queuedTurn('trn_1', 'hello'), ...counts });
    const journal = await fixture.waitForOutcome('trn_1');
    expect(JSON.stringify(outcomeOf(journal))).not.toContain('rehearsal/echo');
    const [finished] = dataOf(journal, 'model.request_finished');
    expect(finished).toMatchObject({ is_error: true });
    expect(finished).not.toHaveProperty('fallback');
  });

  it('has no further model behind an override of the model', async () => {
    await using fixture = await openTestRunner();
    const turn = { ...lastRetry('hello'), overridesJson: '{"model":"rehearsal/script"}' };
    fixture.queueTurns(agentWith(['rehearsal/echo']), turn);
    const journal = await fixture.waitForOutcome('trn_1');
    expect(dataOf(journal, 'model.request_finished')[0]).not.toHaveProperty('fallback');
  });

  it('skips models without a needed capability or without a provider', async () => {
    const { tool } = createRecordingTool();
    await using fixture = await openTestRunner({ tools: [tool] });
    const others = [
      'anthropic/claude-2.1',
      'openai/gpt-4',
      'gone/model',
      'openai/gpt-5.4-pro',
      'rehearsal/echo',
    ];
    const image = storedPart(fixture.files, Buffer.from('pixels'));
    const messages = [message('trn_1', 1, 'user.message', [image])];
    const agent = { ...agentWith(others), outputSchemaJson: '{"type":"object"}' };
    fixture.queueTurns(agent, { ...lastRetry(''), messages });
    const journal = await fixture.waitForOutcome('trn_1');
    expect(dataOf(journal, 'model.request_finished')).toMatchObject([
      {
        fallback: {
          to: 'rehearsal/echo',
          skipped: [
            { model: 'anthropic/claude-2.1', reason: 'tools' },
            { model: 'openai/gpt-4', reason: 'images' },
            { model: 'gone/model', reason: 'unknown_model' },
            { model: 'openai/gpt-5.4-pro', reason: 'structured_output' },
          ],
        },
      },
    ]);
  });

  it('fails by the rules of its last model when none can continue', async () => {
    await using fixture = await openTestRunner();
    fixture.queueTurns(agentWith(['gone/model']), lastRetry('hello'));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(outcomeOf(journal)).toEqual({
      $case: 'retry',
      value: { error: { code: 'model_overloaded', message: expect.any(String) }, delayMs: 0 },
    });
    expect(dataOf(journal, 'model.request_finished')).toMatchObject([
      { fallback: { to: null, skipped: [{ model: 'gone/model', reason: 'unknown_model' }] } },
    ]);
  });
});

describe('a model whose retries have ended with an outage', () => {
  const DOWN = { status: 503, kind: 'InternalServerError', message: 'The engine is overloaded' };
  const ECHO = 'rehearsal/echo';
  const agent = { model: compatible.model, models: { names: [compatible.model, ECHO] } };

  /** A runner that has seen the retries of the agent's first model end. */
  async function openOutage() {
    const stack = new AsyncDisposableStack();
    const provider = stack.use(await openProvider(compatible));
    const fixture = stack.use(await openTestRunner({ providers: compatible.settings(provider.url) }));
    provider.enqueue(DOWN);
    fixture.queueTurns(agent, lastRetry('first'));
    await fixture.waitForOutcome('trn_1');
    const run = async (turnId: string, more = {}) => {
      fixture.queueTurns(agent, { ...queuedTurn(turnId, 'hello'), maxFailures: MAX_FAILURES, ...more });
      return fixture.waitForOutcome(turnId);
    };
    return { provider, fixture, run, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  }

  it('is avoided by following turns, whose first request has the reason', async () => {
    await using outage = await openOutage();
    const journal = await outage.run('trn_2');
    expect(textOf(journal)).toBe('hello');
    const reason = { code: 'model_overloaded', message: 'The model provider is overloaded.' };
    expect(dataOf(journal, 'model.request_finished')).toMatchObject([
      { model: ECHO, is_error: false, fallback: { reason, to: ECHO, skipped: [] } },
    ]);
    expect(outage.provider.requests).toHaveLength(1);
  });

  it('is used by an agent without further models, and by all again when it answers', async () => {
    await using outage = await openOutage();
    const { provider, fixture, run } = outage;
    provider.enqueue({ parts: [{ text: 'back' }] }, { parts: [{ text: 'again' }] });
    fixture.queueTurns({ model: compatible.model }, queuedTurn('trn_2', 'hello'));
    expect(textOf(await fixture.waitForOutcome('trn_2'))).toBe('back');
    expect(textOf(await run('trn_3'))).toBe('again');
  });

  it('is tried by one turn after a minute, which moves on after one failure', async () => {
    await using outage = await openOutage();
    const { provider, fixture, run } = outage;
    fixture.clock.advance(60_000);
    provider.enqueue(DOWN, { parts: [{ text: 'back' }] });
    expect(outcomeOf(await run('trn_2'))).toMatchObject({ $case: 'retry' });
    expect(provider.requests).toHaveLength(2);
    expect(textOf(await run('trn_3'))).toBe('hello');
    fixture.requeue('trn_2');
    expect(textOf(await fixture.waitForOutcome('trn_2', 2))).toBe('hello');
    expect(provider.requests).toHaveLength(2);
    fixture.clock.advance(60_000);
    expect(textOf(await run('trn_4'))).toBe('back');
  });

  it('is kept by a turn that has failed more often, so that the next one has all retries', async () => {
    await using outage = await openOutage();
    outage.provider.enqueue(DOWN);
    const journal = await outage.run('trn_2', { failures: 2 });
    expect(outcomeOf(journal)).toMatchObject({ $case: 'retry', value: { fallbackModel: ECHO } });
  });

  it('does not get a turn back in which the next model has answered', async () => {
    await using outage = await openOutage();
    const { fixture, provider, run } = outage;
    await fixture.crash();
    const call = { type: 'tool-call', toolCallId: 'call_1', toolName: 'gone', input: {} };
    const data = { content: [call], message_id: 'msg_1', model: ECHO, finish_reason: 'tool-calls' };
    const answer = { seq: 2, type: 'agent.message' };
    const json = JSON.stringify({ ...answer, turn_id: 'trn_2', data });
    const messages = [message('trn_2', 1, 'user.message', 'hello'), { ...answer, json }];
    expect(dataOf(await run('trn_2', { messages }), 'agent.message')).toMatchObject([{ model: ECHO }]);
    expect(provider.requests).toHaveLength(1);
  });

  it.each([
    ['a timeout', 'model_timeout', false],
    ["the rate limit of an agent's own key", 'model_rate_limited', true],
  ])('is not avoided after %s', (_, code, hasAgentKey) => {
    const outages = new ModelOutages(createFakeClock());
    outages.exhausted('a/b', { code, message: '' }, hasAgentKey);
    expect(outages.avoid('a/b')).toBeUndefined();
    outages.exhausted('a/b', { code: 'model_unreachable', message: '' }, hasAgentKey);
    expect(outages.avoid('a/b')).toEqual({ code: 'model_unreachable', message: '' });
  });
});
