import { describe, expect, it } from 'vitest';
import { AnswerFold } from '../../../../edge/protocols/openai/answer-fold.ts';
import {
  firstEvents,
  lastEvents,
  textEvents,
} from '../../../../edge/protocols/openai/responses/stream-events.ts';

const TURN = 'trn_00000000000000000000000001';
const USAGE = {
  ...{ input_tokens: 3, output_tokens: 5, steps: 2, tool_calls: 1, active_seconds: 1 },
  ...{ cached_input_tokens: 2, cache_write_tokens: 1, reasoning_tokens: 4, estimated: false },
};

/** The events of a turn with these types and data, from seq 10 on. */
function journal(...events: [string, object][]) {
  return events.map(([type, data], index) => {
    const seq = 10 + index;
    return { seq, type, json: JSON.stringify({ seq, type, turn_id: TURN, data }) };
  });
}
const delta = (id: string, text: string): [string, object] => [
  'agent.message_delta',
  { message_id: id, index: 0, delta: text },
];
const whole = (id: string, text: string): [string, object] => [
  'agent.message',
  {
    message_id: id,
    content: [
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text },
    ],
  },
];
const COMPLETED: [string, object] = ['turn.completed', { turn_id: TURN, usage: USAGE }];

function foldOf(...events: [string, object][]) {
  const fold = new AnswerFold(TURN);
  const texts = journal(...events).flatMap((event) => fold.add(event) ?? []);
  return { fold, texts };
}

describe('the answer of a turn', () => {
  it('has the text of each message once, whether or not it came in parts', () => {
    const { fold, texts } = foldOf(
      delta('msg_1', 'Let me '),
      delta('msg_1', 'count.'),
      whole('msg_1', 'Let me count.'),
      whole('msg_2', 'It is 2.'),
      COMPLETED,
    );
    expect(fold.text).toBe('Let me count.\n\nIt is 2.');
    expect(texts.map(({ text }) => text).join('')).toBe(fold.text);
    expect(fold.end).toEqual({
      kind: 'completed',
      usage: { inputTokens: 3, outputTokens: 5, cachedTokens: 2, reasoningTokens: 4 },
    });
  });

  it('adds what the parts of a message do not have yet', () => {
    expect(foldOf(delta('msg_1', 'It '), whole('msg_1', 'It is 2.')).fold.text).toBe('It is 2.');
  });

  it('keeps the text of a discarded attempt, because the client has it, and begins the next one apart', () => {
    const { fold } = foldOf(
      delta('msg_1', 'It i'),
      ['agent.message_discarded', { message_id: 'msg_1', reason: 'overloaded' }],
      whole('msg_2', 'It is 2.'),
    );
    expect(fold.text).toBe('It i\n\nIt is 2.');
  });

  it('with structured output is the last message alone, at the end of the turn', () => {
    const fold = new AnswerFold(TURN, { isStructured: true });
    const events = journal(
      delta('msg_1', '{'),
      whole('msg_1', '{"n":"x"}'),
      whole('msg_2', '{"n":1}'),
      COMPLETED,
    );
    const texts = events.flatMap((event) => fold.add(event) ?? []);
    expect(texts).toEqual([{ seq: 13, text: '{"n":1}' }]);
    expect(fold.text).toBe('{"n":1}');
  });

  it('ignores events of other turns', () => {
    const fold = new AnswerFold('trn_00000000000000000000000002');
    for (const event of journal(whole('msg_1', 'x'), COMPLETED)) expect(fold.add(event)).toBeUndefined();
    expect(fold.end).toBeUndefined();
  });

  it('tells why the session stopped, that the turn waits, and that it goes on', () => {
    const limited = foldOf(COMPLETED, [
      'session.status_idle',
      { stop_reason: { type: 'max_steps_reached' } },
    ]);
    expect(limited.fold.stopReason).toBe('max_steps_reached');
    const blocked: [string, object] = ['turn.blocked', { turn_id: TURN, attempt: 1, fence: 1 }];
    expect(foldOf(blocked).fold.isWaiting).toBe(true);
    const resumed: [string, object] = ['turn.started', { turn_id: TURN, attempt: 2, fence: 2 }];
    expect(foldOf(blocked, resumed).fold.isWaiting).toBe(false);
  });
});

describe('events of a streamed response', () => {
  const head = {
    ...{ turnId: TURN, sessionId: 'ses_00000000000000000000000001', model: 'support', createdAt: 1 },
    ...{ background: false, instructions: null, previousResponseId: null, metadata: {} },
  };

  it('have growing numbers, and their deltas are the text of the response', () => {
    const { fold, texts } = foldOf(delta('msg_1', 'It '), whole('msg_1', 'It is 2.'), COMPLETED);
    const events = [
      ...firstEvents(head, fold),
      ...texts.flatMap((text) => textEvents(head, text)),
      ...lastEvents(head, fold, ''),
    ];
    const numbers = events.map((event) => event.sequence_number);
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
    expect(new Set(numbers).size).toBe(numbers.length);
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta');
    expect(deltas.map((event) => event.delta).join('')).toBe('It is 2.');
    expect(events.at(-1)).toMatchObject({
      type: 'response.completed',
      response: {
        status: 'completed',
        output: [{ content: [{ text: 'It is 2.' }] }],
        usage: { total_tokens: 8 },
      },
    });
  });

  it.each<[string, [string, object][], string, object]>([
    [
      'a turn that waits',
      [['turn.blocked', { turn_id: TURN, attempt: 1, fence: 1 }]],
      'response.incomplete',
      { status: 'incomplete', incomplete_details: { reason: 'requires_action' } },
    ],
    [
      'a failed turn',
      [['turn.failed', { turn_id: TURN, usage: USAGE, error: { code: 'X', message: 'no' } }]],
      'response.failed',
      { status: 'failed', error: { code: 'server_error', message: 'no (X)' } },
    ],
    [
      'an interrupted turn',
      [['turn.interrupted', { turn_id: TURN, usage: USAGE }]],
      'response.incomplete',
      { status: 'cancelled' },
    ],
    [
      'a turn at its limit',
      [COMPLETED, ['session.status_idle', { stop_reason: { type: 'budget_reached' } }]],
      'response.incomplete',
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    ],
  ])('end with the state of %s', (_, events, type, response) => {
    const last = lastEvents(head, foldOf(...events).fold, 'The agent waits.').at(-1);
    expect(last).toMatchObject({ type, response });
  });
});
