import { describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../../support/context.ts';
import { openProvider } from '../../support/providers/server.ts';
import { queuedTurn } from './fake-sessions.ts';
import { PROTOCOLS } from './model-step-fixture.ts';
import { dataOf, openTestRunner, outcomeOf, script, typesOf } from './runner-fixture.ts';

const SCHEMA = { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] };
const schema = { outputSchemaJson: JSON.stringify(SCHEMA) };
const AGAIN = { answer_again: true };
const INVALID = { text: '{"total": "three"}' };
const VALID = { text: '```json\n{"total": 3}\n```' };
const OUTPUT_ERROR = {
  code: 'invalid',
  problems: [{ pointer: '/total', message: 'must be an integer' }],
};
const completed = (output: unknown) => ({
  $case: 'completed',
  value: { stopReason: 'end_turn', outputJson: JSON.stringify(output) },
});
const outputInvalid = { $case: 'failed', value: { error: { code: 'output_invalid' } } };

describe.each(TRANSPORTS)('a turn with an output schema, %s', (transport) => {
  it('ends with the parsed output in its message and its outcome, also behind tool calls', async () => {
    await using fixture = await openTestRunner({ transport });
    const steps = [{ tool: 'calculator', input: { expression: '1+2' } }, VALID];
    fixture.queueTurns({ ...script(...steps), ...schema }, queuedTurn('trn_1', 'Count.'));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(outcomeOf(journal)).toEqual(completed({ total: 3 }));
    const messages = dataOf(journal, 'agent.message');
    expect(messages.map((data) => [data.output, data.output_error])).toEqual([
      [undefined, undefined],
      [{ total: 3 }, undefined],
    ]);
  });

  it('asks the model again, with the problems, after an invalid answer', async () => {
    await using fixture = await openTestRunner({ transport });
    const steps = [INVALID, AGAIN, { text: '{"total": 4, "heard": "{{input}}"}' }];
    const open = { ...SCHEMA, properties: { total: { type: 'integer' } } };
    fixture.queueTurns(
      { ...script(...steps), outputSchemaJson: JSON.stringify(open) },
      queuedTurn('trn_1', 'Count.'),
    );
    const journal = await fixture.waitForOutcome('trn_1');
    const [first, second] = dataOf(journal, 'agent.message');
    expect(first).toMatchObject({ output_error: OUTPUT_ERROR });
    expect(first).not.toHaveProperty('output');
    // The echoed message has line breaks, which JSON does not allow in a string, so that this answer is invalid, too.
    expect(second).toMatchObject({ output_error: { problems: [{ pointer: '', message: 'must be JSON' }] } });
    expect(JSON.stringify(second)).toContain('/total must be an integer');
    expect(outcomeOf(journal)).toMatchObject(outputInvalid);
  });

  it('ends with the output of a valid second answer', async () => {
    await using fixture = await openTestRunner({ transport });
    fixture.queueTurns({ ...script(INVALID, AGAIN, VALID), ...schema }, queuedTurn('trn_1', 'Count.'));
    expect(outcomeOf(await fixture.waitForOutcome('trn_1'))).toEqual(completed({ total: 3 }));
  });

  it('fails with output_invalid after a second invalid answer and asks no third time', async () => {
    await using fixture = await openTestRunner({ transport });
    const steps = script(INVALID, AGAIN, INVALID, AGAIN, VALID);
    fixture.queueTurns({ ...steps, ...schema }, queuedTurn('trn_1', 'Count.'));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(outcomeOf(journal)).toMatchObject(outputInvalid);
    expect(typesOf(journal).filter((type) => type === 'model.request_started')).toHaveLength(2);
  });

  it('fails with output_invalid for a schema that takes too long, while other turns run', async () => {
    await using fixture = await openTestRunner({ transport });
    const hostile = { outputSchemaJson: '{"pattern":"^(a+)+$"}' };
    const text = { text: `"${'a'.repeat(60)}!"` };
    fixture.queueTurns({ ...script(text), ...hostile }, queuedTurn('trn_1', 'Go.'));
    fixture.queueTurns({}, queuedTurn('trn_2', 'Hello'));
    await fixture.waitForOutcome('trn_2');
    await fixture.advanceUntil('the first turn has ended', () => {
      const journal = fixture.sessions.journalOf('trn_1');
      return journal.outcomes.length > 0;
    });
    const journal = fixture.sessions.journalOf('trn_1');
    expect(outcomeOf(journal)).toMatchObject(outputInvalid);
    expect(dataOf(journal, 'agent.message')[0]).toMatchObject({ output_error: { code: 'too_expensive' } });
  });

  it.each([
    [
      'one invalid answer, and is asked once more',
      [INVALID.text],
      script(INVALID, AGAIN, INVALID, AGAIN, VALID),
      1,
    ],
    ['two invalid answers, and is not asked again', [INVALID.text, INVALID.text], script(VALID), 0],
  ])('continues after a crash behind %s', async (_, answers, steps, requests) => {
    await using fixture = await openTestRunner({ transport });
    const messages = answers.map((text, index) =>
      answerEvent(index + 2, text, { output_error: OUTPUT_ERROR }),
    );
    const turn = queuedTurn('trn_1', 'Count.');
    fixture.queueTurns({ ...steps, ...schema }, { ...turn, messages: [...turn.messages, ...messages] });
    const journal = await fixture.waitForOutcome('trn_1');
    expect(outcomeOf(journal)).toMatchObject(outputInvalid);
    expect(typesOf(journal).filter((type) => type === 'model.request_started')).toHaveLength(requests);
  });

  it('completes after a crash behind a valid answer with its journaled output', async () => {
    await using fixture = await openTestRunner({ transport });
    const turn = queuedTurn('trn_1', 'Count.');
    const messages = [...turn.messages, answerEvent(2, VALID.text, { output: { total: 3 } })];
    fixture.queueTurns({ ...script(INVALID), ...schema }, { ...turn, messages });
    const journal = await fixture.waitForOutcome('trn_1');
    expect(outcomeOf(journal)).toEqual(completed({ total: 3 }));
    expect(typesOf(journal)).toEqual([]);
  });

  it('applies overrides: model, system, stricter tools, steps, budget and output schema', async () => {
    await using fixture = await openTestRunner({ transport });
    const overridesJson = JSON.stringify({
      model: 'rehearsal/script',
      model_options: { steps: [{ tool: 'calculator', input: { expression: '1' } }, VALID] },
      tools: [{ name: 'calculator', permission: 'deny' }],
      budget: { max_tokens: 1_000 },
      output_schema: SCHEMA,
    });
    const agent = { budget: { maxTokens: 500, maxTurnSeconds: undefined } };
    fixture.queueTurns(agent, { ...queuedTurn('trn_1', 'Count.'), overridesJson });
    const journal = await fixture.waitForOutcome('trn_1');
    expect(outcomeOf(journal)).toEqual(completed({ total: 3 }));
    expect(dataOf(journal, 'model.request_started')).toEqual([
      { model: 'rehearsal/script' },
      { model: 'rehearsal/script' },
    ]);
    expect(dataOf(journal, 'agent.tool_use')).toMatchObject([{ evaluated_permission: 'deny' }]);
    const steps = {
      ...queuedTurn('trn_2', 'Hi'),
      overridesJson: '{"max_steps":1,"system":{"mode":"append","text":"S"}}',
    };
    fixture.queueTurns({ ...script({ tool: 'calculator', input: { expression: '1' } }) }, steps);
    expect(outcomeOf(await fixture.waitForOutcome('trn_2'))).toMatchObject({
      value: { stopReason: 'max_steps_reached' },
    });
  });
});

function answerEvent(seq: number, text: string, checked: object) {
  const content = [{ type: 'text', text }];
  const data = { message_id: `msg_${seq}`, content, model: 'm', finish_reason: 'stop', ...checked };
  const type = 'agent.message';
  return { seq, type, json: JSON.stringify({ seq, type, turn_id: 'trn_1', data }) };
}

describe.each(PROTOCOLS)('a turn with an output schema of $name', (protocol) => {
  it('sends the schema in the native form of the provider, or as an instruction', async () => {
    await using server = await openProvider(protocol);
    await using fixture = await openTestRunner({ providers: protocol.settings(server.url) });
    server.enqueue({ parts: [{ text: '{"total": 3}' }] });
    const closed = JSON.stringify({ ...SCHEMA, additionalProperties: false });
    fixture.queueTurns(
      { model: protocol.model, system: 'Be brief.', outputSchemaJson: closed },
      queuedTurn('trn_1', 'Count.'),
    );
    expect(outcomeOf(await fixture.waitForOutcome('trn_1'))).toEqual(completed({ total: 3 }));
    const { body } = server.requests[0]!;
    expect(body).toMatchObject(NATIVE_FORMS[protocol.name] ?? {});
    const asText = JSON.stringify(body.messages ?? body.input);
    expect(asText.includes('matches this JSON Schema')).toBe(!(protocol.name in NATIVE_FORMS));
    expect(JSON.stringify(body)).toContain('Be brief.');
  });
});

const NATIVE_FORMS: Record<string, object> = {
  anthropic: { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
  openai: { text: { format: { type: 'json_schema', strict: false, schema: { type: 'object' } } } },
};
