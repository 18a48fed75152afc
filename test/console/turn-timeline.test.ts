import { describe, expect, it } from 'vitest';
import { linkedTurnIndex } from '../../console/journal/linked-turn.ts';
import { mergedTurns } from '../../console/journal/merged-turns.ts';
import { ticksOf, tickText } from '../../console/journal/time-axis.ts';
import type { TimelineSpan } from '../../console/journal/timeline-span.ts';
import { timelineOf } from '../../console/journal/turn-timeline.ts';
import { tokensText } from '../../console/journal/usage-text.ts';
import { exactDurationText } from '../../console/parts/text/duration.ts';
import {
  APPROVAL_REQUESTED,
  compacted,
  type EventSpec,
  journal,
  retryingError,
  START,
  USE,
} from './journal-events.ts';

type Turn = Parameters<typeof timelineOf>[0];

const NO_USAGE = {
  ...{ input_tokens: 0, output_tokens: 0, steps: 0, tool_calls: 0, active_seconds: 0 },
  ...{ cached_input_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0, estimated: false },
};
const time = (ms: number) => new Date(START + ms).toISOString();

const turnOf = (fields: Partial<Turn> = {}): Turn => ({
  turn_id: 'trn_1',
  session_id: 'ses_1',
  kind: 'answer',
  status: 'completed',
  queued_seq: 2,
  attempt: 1,
  usage: NO_USAGE,
  replaces_turn_id: null,
  delivered_to_turn_id: null,
  output: null,
  overrides: null,
  error: null,
  created_at: time(0),
  started_at: time(0),
  finished_at: time(5_000),
  ...fields,
});

const REQUEST: EventSpec = ['model.request_started', { model: 'm' }];
const response = (duration: number, isError = false): EventSpec => [
  'model.request_finished',
  { model: 'm', usage: { input_tokens: 1, output_tokens: 2 }, duration_ms: duration, is_error: isError },
];
const DISPATCHED: EventSpec = ['agent.tool_dispatched', { tool_use_id: 'call_1', attempt: 1, fence: 2 }];
const RESULT: EventSpec = [
  'agent.tool_result',
  { tool_use_id: 'call_1', output: '', is_error: false, duration_ms: 50 },
];
const STARTED: EventSpec = ['turn.started', { attempt: 1, fence: 1 }];

/** Spans as [kind, name, start, end, children], with times in ms after the start. */
const outline = (spans: readonly TimelineSpan[]): unknown[] =>
  spans.map(({ kind, name, start, end, children }) => [
    kind,
    name,
    start - START,
    end === undefined ? undefined : end - START,
    ...(children.length > 0 ? [outline(children)] : []),
  ]);

describe('timelineOf', () => {
  it('nests the model request, the approval and the calls of a step', () => {
    const events = journal(
      STARTED,
      REQUEST,
      ['agent.tool_use', USE],
      response(100),
      APPROVAL_REQUESTED,
      ['approval.decided', { approval_id: 'apr_1', decision: 'allow', by: 'usr_1' }],
      STARTED,
      DISPATCHED,
      RESULT,
      REQUEST,
      response(100),
    );
    const { spans } = timelineOf(turnOf({ finished_at: time(1_000) }), events);
    expect(outline(spans)).toEqual([
      ['idle', 'Idle', 0, 100],
      [
        'step',
        'Step 1',
        100,
        800,
        [
          ['model', 'm', 100, 300],
          ['approval', 'Approval of bash', 400, 500],
          ['tool', 'bash', 700, 800],
        ],
      ],
      ['idle', 'Idle', 300, 400],
      ['idle', 'Idle', 500, 700],
      ['idle', 'Idle', 800, 900],
      ['step', 'Step 2', 900, 1_000, [['model', 'm', 900, 1_000]]],
    ]);
  });

  it('shows a compaction with its tokens, from the event before it to the next request', () => {
    const { spans } = timelineOf(
      turnOf({ finished_at: time(300) }),
      journal(STARTED, compacted({ strategy: 'drop_turns' }), REQUEST, response(100)),
    );
    expect(outline(spans)).toEqual([
      ['compaction', 'The oldest messages were left out', 0, 100],
      ['idle', 'Idle', 100, 200],
      ['step', 'Step 1', 200, 300, [['model', 'm', 200, 300]]],
    ]);
    expect(spans[0]).toMatchObject({ seq: 2, detail: 'from about 12,300 to 4,100 tokens' });
  });

  it('shows retries as one span with their count, and the attempts of the step', () => {
    const events = journal(
      STARTED,
      REQUEST,
      response(100, true),
      retryingError('model_overloaded'),
      ['session.status_rescheduled', { reason: 'model_overloaded' }],
      STARTED,
      REQUEST,
      response(100, true),
      retryingError('model_overloaded'),
      STARTED,
      REQUEST,
      response(100),
    );
    const { spans } = timelineOf(turnOf({ finished_at: time(1_100) }), events);
    expect(outline(spans.filter(({ kind }) => kind !== 'idle'))).toEqual([
      ['step', 'Step 1', 100, 200, [['model', 'm', 100, 200]]],
      ['retry', 'Model overloaded: retried 2 times, 600 ms', 300, 900],
      ['step', 'Step 1, attempt 2', 600, 700, [['model', 'm', 600, 700]]],
      ['step', 'Step 1, attempt 3', 1_000, 1_100, [['model', 'm', 1_000, 1_100]]],
    ]);
    expect(spans.filter(({ isError }) => isError).map(({ name }) => name)).toEqual([
      'Step 1',
      'Step 1, attempt 2',
    ]);
  });

  it('keeps the exit code of a command that did not exit with 0', () => {
    const exited = (id: string, code: number): EventSpec[] => [
      ['agent.tool_use', { ...USE, tool_use_id: id }],
      ['agent.tool_dispatched', { tool_use_id: id, attempt: 1, fence: 1 }],
      [
        'agent.tool_result',
        { tool_use_id: id, output: '', is_error: false, duration_ms: 1, exit_code: code },
      ],
    ];
    const { spans } = timelineOf(turnOf(), journal(STARTED, ...exited('call_1', 0), ...exited('call_2', 3)));
    const calls = spans.filter(({ kind }) => kind === 'tool');
    expect(calls.map(({ exitCode }) => exitCode)).toEqual([undefined, 3]);
  });

  it('moves the start of a span by its measured duration, but not before the start of the turn', () => {
    const events = journal(STARTED, REQUEST, response(10_000), ['agent.tool_use', USE], DISPATCHED, RESULT);
    const { spans } = timelineOf(turnOf({ finished_at: time(500) }), events);
    expect(outline(spans)).toEqual([
      [
        'step',
        'Step 1',
        0,
        500,
        [
          ['model', 'm', 0, 200],
          ['tool', 'bash', 400, 500],
        ],
      ],
      ['idle', 'Idle', 200, 400],
    ]);
  });

  it('names a call that failed before its dispatch', () => {
    const { spans } = timelineOf(turnOf(), journal(STARTED, REQUEST, ['agent.tool_use', USE], RESULT));
    expect(spans.flatMap(({ children }) => children)).toMatchObject([
      { kind: 'model' },
      { kind: 'tool', name: 'bash' },
    ]);
  });

  it('ends open spans with the turn and marks its tokens as incomplete', () => {
    const events = journal(STARTED, REQUEST, ['turn.interrupted', {}]);
    const timeline = timelineOf(turnOf({ status: 'interrupted', finished_at: time(900) }), events);
    expect(timeline.hasUnreportedTokens).toBe(true);
    expect(outline(timeline.spans)).toEqual([
      ['idle', 'Idle', 0, 100],
      ['step', 'Step 1', 100, 900, [['model', 'm', 100, 900]]],
    ]);
  });

  it('lasts from the first start of the turn, without its time in the queue', () => {
    const turn = turnOf({ created_at: time(0), started_at: time(400), finished_at: time(1_000) });
    const { start, end } = timelineOf(turn, journal(STARTED));
    expect([start - START, (end ?? 0) - START]).toEqual([400, 1_000]);
  });

  it('leaves the spans of an unfinished turn open', () => {
    const timeline = timelineOf(
      turnOf({ status: 'in_progress', finished_at: null }),
      journal(STARTED, REQUEST),
    );
    expect(timeline).toMatchObject({ end: undefined, hasUnreportedTokens: false });
    expect(timeline.spans.at(-1)).toMatchObject({ kind: 'step', end: undefined });
  });

  it('shows the queue time of a turn that never started, and no events of other turns', () => {
    const turn = turnOf({ status: 'cancelled', started_at: null, finished_at: time(300) });
    const { spans } = timelineOf(turn, journal(['model.request_started', { model: 'm' }, 'trn_2']));
    expect(outline(spans)).toEqual([['queue', 'Waiting for a runner', 0, 300]]);
  });
});

describe('mergedTurns', () => {
  it('replaces changed turns and inserts new ones in the order of their queueing', () => {
    const [first, second] = [turnOf({ status: 'queued' }), turnOf({ turn_id: 'trn_2', queued_seq: 9 })];
    expect(mergedTurns([first], [second, turnOf()])).toEqual([turnOf(), second]);
  });
});

describe('linkedTurnIndex', () => {
  const turns = [
    turnOf(),
    turnOf({ turn_id: 'trn_2', queued_seq: 9 }),
    turnOf({ turn_id: 'trn_3', queued_seq: 30 }),
  ];

  it('finds the turn of an event that is later than the queueing of the next turn', () => {
    expect(linkedTurnIndex(turns, 12, 'trn_1')).toBe(0);
  });

  it('finds the turn before an event without a turn', () => {
    expect(linkedTurnIndex(turns, 12, null)).toBe(1);
    expect(linkedTurnIndex(turns, 1, null)).toBe(-1);
  });

  it('finds the newest turn without a linked event', () => {
    expect(linkedTurnIndex(turns, undefined, undefined)).toBe(2);
  });
});

describe('ticksOf', () => {
  it.each([
    [0, 10, 1],
    [7, 10, 8],
    [5_000, 10, 11],
    [13_245, 10, 7],
    [3_600_000, 4, 5],
    [90 * 86_400_000, 5, 6],
  ])('divides %i ms into at most about %i ticks', (duration, most, count) => {
    const ticks = ticksOf(duration, most);
    expect(ticks).toHaveLength(count);
    expect(ticks[0]).toBe(0);
    expect(ticks.at(-1)).toBeLessThanOrEqual(duration);
  });

  it('labels ticks with the digits that they need', () => {
    expect([0, 500, 1_000, 1_500, 60_000, 150_000, 3_600_000, 5_400_000].map(tickText)).toEqual([
      '0',
      '500 ms',
      '1 s',
      '1.5 s',
      '1 min',
      '2 min 30 s',
      '1 h',
      '1 h 30 min',
    ]);
  });
});

describe('exactDurationText', () => {
  it.each([
    [0, '0 ms'],
    [845, '845 ms'],
    [13_245, '13.245 s'],
    [123_045, '2 min 3.045 s'],
    [3_723_045, '1 h 2 min 3.045 s'],
  ])('formats %i ms as %s', (ms, expected) => expect(exactDurationText(ms)).toBe(expected));
});

describe('tokensText', () => {
  const usage = (input: number, output: number) => ({
    ...NO_USAGE,
    input_tokens: input,
    output_tokens: output,
  });
  it('does not show the tokens of an interrupted turn without a report as zero', () => {
    expect(tokensText(usage(0, 0), 'interrupted')).toBe('tokens unknown');
    expect(tokensText(usage(0, 0), 'completed')).toBe('0 tokens in, 0 out');
    expect(tokensText(usage(1_200, 3), 'interrupted')).toBe('1,200 tokens in, 3 out');
    expect(tokensText(usage(1_200, 3), 'interrupted', true)).toBe('at least 1,200 tokens in, 3 out');
  });

  it('shows cached and reasoning tokens, and says that an estimate is one', () => {
    const detailed = { ...usage(1_200, 30), cached_input_tokens: 1_000, reasoning_tokens: 20 };
    expect(tokensText(detailed, 'completed')).toBe('1,200 tokens in (1,000 cached), 30 out (20 reasoning)');
    expect(tokensText({ ...usage(1_200, 3), estimated: true }, 'interrupted')).toBe(
      'about 1,200 tokens in, 3 out',
    );
  });
});
