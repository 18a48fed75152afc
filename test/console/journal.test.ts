import { describe, expect, it } from 'vitest';
import { type Call, type ChatItem, chatOf } from '../../console/journal/chat.ts';
import { asJournalEvent, isPassing, LASTING_TYPES, type LastingEvent } from '../../console/journal/event.ts';
import { timelineOf } from '../../console/journal/timeline.ts';
import { waitingFor } from '../../console/journal/waiting.ts';
import { EVENT_TYPES } from '../../lib/events.ts';

const PASSING = ['agent.message_delta', 'agent.tool_progress'];
const BEGUN_AT = Date.parse('2026-01-01T12:00:00.000Z');

type Written = [type: string, data?: object, turnId?: string];

/** Events a tenth of a second apart. */
function journal(...written: Written[]): LastingEvent[] {
  return written.map(([type, data = {}, turnId = 'trn_1'], index) => {
    const event = asJournalEvent({
      event_id: `evt_${index + 1}`,
      session_id: 'ses_1',
      seq: index + 1,
      type: type as LastingEvent['type'],
      turn_id: turnId,
      created_at: new Date(BEGUN_AT + index * 100).toISOString(),
      actor: { type: 'agent', id: 'agt_1' },
      data: { ...data },
    });
    if (isPassing(event)) throw new Error(`${type} only passes`);
    return event;
  });
}

const chat = (...written: Written[]) =>
  chatOf({ events: journal(...written), drafts: [], progress: new Map() });
const calls = (items: ChatItem[]) => items.filter((item): item is Call => item.kind === 'call');
const text = (...parts: string[]) => ({ content: parts.map((part) => ({ type: 'text', text: part })) });
const USE = { tool_use_id: 'call_1', name: 'bash', input: { command: 'ls' }, evaluated_permission: 'ask' };
const ASKED: Written = [
  'approval.requested',
  { approval_id: 'apr_1', kind: 'tool', tool_use_id: 'call_1', expires_at: '2026-01-02T12:00:00.000Z' },
];

describe('what the console knows of events', () => {
  it('is every type that there is: those that last, and those that only pass', () => {
    expect([...LASTING_TYPES, ...PASSING].sort()).toEqual([...EVENT_TYPES].sort());
  });
});

describe('a session as a conversation', () => {
  it('says what was said once, calls and thoughts apart from it', () => {
    const items = chat(
      ['user.message', text('Hello ', 'there')],
      ['agent.thinking', { message_id: 'msg_1', ...text('Hm.') }],
      [
        'agent.message',
        {
          message_id: 'msg_1',
          content: [{ type: 'reasoning', text: 'Hm.' }, { type: 'text', text: 'Hi' }, { type: 'tool-call' }],
        },
      ],
      ['agent.tool_use', USE],
    );
    expect(items.map((item) => [item.kind, 'text' in item ? item.text : ''])).toEqual([
      ['user', 'Hello there'],
      ['thinking', 'Hm.'],
      ['agent', 'Hi'],
      ['call', ''],
    ]);
  });

  it('leaves out what an attempt has thought whose message was discarded', () => {
    const items = chat(
      ['agent.thinking', { message_id: 'msg_1', ...text('wrong') }],
      ['agent.message_discarded', { message_id: 'msg_1', reason: 'overloaded' }],
      ['agent.thinking', { message_id: 'msg_2', ...text('right') }],
    );
    expect(items).toMatchObject([{ kind: 'thinking', text: 'right' }]);
  });

  it('has what is said behind a turn where its own turn begins, and until then at the end', () => {
    const written: Written[] = [
      ['user.message', text('first')],
      ['turn.queued', {}],
      ['turn.started', { attempt: 1, fence: 1 }],
      ['user.message', text('second'), 'trn_2'],
      ['turn.queued', {}, 'trn_2'],
      ['agent.message', { message_id: 'msg_1', ...text('answer to the first') }],
    ];
    const shown = (items: ChatItem[]) =>
      items.map((item) =>
        'text' in item ? `${item.text}${'isQueued' in item && item.isQueued ? ', queued' : ''}` : item.kind,
      );
    const before = ['first', 'answer to the first'];
    expect(shown(chat(...written))).toEqual([...before, 'second, queued']);
    expect(shown(chat(...written, ['turn.completed', {}]))).toEqual([...before, 'end', 'second']);
    expect(
      shown(
        chat(
          ...written,
          ['turn.completed', {}],
          ['turn.started', { attempt: 1, fence: 2 }, 'trn_2'],
          ['agent.message', { message_id: 'msg_2', ...text('answer to the second') }, 'trn_2'],
        ),
      ),
    ).toEqual([...before, 'end', 'second', 'answer to the second']);
    expect(shown(chat(['user.message', text('alone')], ['turn.queued', {}]))).toEqual(['alone']);
  });

  it.each([
    [[], 'waiting'],
    [[ASKED], 'asked'],
    [[ASKED, ['approval.decided', { approval_id: 'apr_1', decision: 'allow', by: 'usr_1' }]], 'waiting'],
    [[['agent.tool_dispatched', { tool_use_id: 'call_1', attempt: 1, fence: 1 }]], 'running'],
    [
      [['agent.tool_result', { tool_use_id: 'call_1', output: 'x', is_error: false, duration_ms: 1 }]],
      'done',
    ],
    [
      [['agent.tool_result', { tool_use_id: 'call_1', output: 'x', is_error: true, duration_ms: 1 }]],
      'failed',
    ],
    [[ASKED, ['turn.interrupted', {}]], 'failed'],
  ] as [Written[], string][])('a call after %j is %s', (after, state) => {
    expect(calls(chat(['agent.tool_use', USE], ...after))[0]?.state).toBe(state);
  });

  it('keeps calls of two turns apart that have the same id', () => {
    const result = { tool_use_id: 'call_1', output: 'first', is_error: false, duration_ms: 1 };
    const items = chat(
      ['agent.tool_use', USE, 'trn_1'],
      ['agent.tool_result', result, 'trn_1'],
      ['agent.tool_use', USE, 'trn_2'],
    );
    expect(calls(items).map((call) => [call.turnId, call.state])).toEqual([
      ['trn_1', 'done'],
      ['trn_2', 'waiting'],
    ]);
  });

  it('takes any part of a journal, wherever it was cut', () => {
    const whole: Written[] = [
      ['user.message', text('Go')],
      ['turn.started', { turn_id: 'trn_1', attempt: 1, fence: 1 }],
      ['model.request_started', { model: 'm' }],
      ['agent.tool_use', USE],
      ASKED,
      ['approval.decided', { approval_id: 'apr_1', decision: 'deny', by: 'usr_1', reason: 'no' }],
      ['agent.tool_result', { tool_use_id: 'call_1', output: 'no', is_error: true, duration_ms: 0 }],
      ['file.created', { path: 'a', size: 1, sha256: '', workspace_version: 1 }],
      ['file.deleted', { path: 'a', workspace_version: 2 }],
      ['turn.completed', { usage: undefined }],
      ['session.status_idle', { stop_reason: { type: 'end_turn' } }],
    ];
    const events = journal(...whole);
    for (let from = 0; from <= events.length; from++)
      for (let to = from; to <= events.length; to++) {
        const part = events.slice(from, to);
        const items = chatOf({ events: part, drafts: [], progress: new Map() });
        expect(items.map(({ seq }) => seq)).toEqual(items.map(({ seq }) => seq).toSorted((a, b) => a - b));
        timelineOf(part);
        waitingFor({ events: part, drafts: [] }, items);
      }
    const all = chatOf({ events, drafts: [], progress: new Map() });
    expect(all.map(({ kind }) => kind)).toEqual(['user', 'call', 'files', 'end']);
    expect(calls(all)[0]).toMatchObject({ state: 'failed', approval: { decision: 'deny', reason: 'no' } });
  });
});

describe('a session as stretches of time', () => {
  it('has a turn with what was waited for, said and done in it, retries and errors', () => {
    const [turn] = timelineOf(
      journal(
        ['turn.queued', { turn_id: 'trn_1' }],
        ['turn.started', { turn_id: 'trn_1', attempt: 1, fence: 1 }],
        ['model.request_started', { model: 'm' }],
        ['session.error', { error: { code: 'overloaded', message: 'Later.' }, retry_status: 'retrying' }],
        ['turn.started', { turn_id: 'trn_1', attempt: 2, fence: 2 }],
        ['model.request_started', { model: 'm' }],
        [
          'model.request_finished',
          { model: 'm', usage: { input_tokens: 1, output_tokens: 2 }, duration_ms: 100, is_error: false },
        ],
        ['agent.tool_use', USE],
        ['agent.tool_dispatched', { tool_use_id: 'call_1', attempt: 1, fence: 2 }],
        ['turn.interrupted', { turn_id: 'trn_1', attempt: 2, fence: 2 }],
      ),
    );
    expect(turn).toMatchObject({ status: 'interrupted', retries: 1, start: BEGUN_AT, end: BEGUN_AT + 900 });
    const spans = turn?.spans.map(({ kind, name, start, end, isError }) => {
      return [kind, name, start - BEGUN_AT, (end ?? 0) - BEGUN_AT, isError];
    });
    expect(spans).toEqual([
      ['queue', 'Waiting for a runner', 0, 100, false],
      ['model', 'm', 200, 300, true],
      ['retry', 'Waiting to try again', 300, 400, false],
      ['model', 'm', 500, 600, false],
      ['tool', 'bash', 800, 900, false],
    ]);
  });
});

describe('a call that was refused before it began', () => {
  const result = { tool_use_id: 'call_1', output: 'too long', is_error: true, duration_ms: 0 };
  const spansOf = (...written: Written[]) =>
    timelineOf(journal(['turn.started', { attempt: 1, fence: 1 }], ['agent.tool_use', USE], ...written))[0]
      ?.spans;

  it('is a stretch of its own, unless somebody has refused it', () => {
    expect(spansOf(['agent.tool_result', result])).toMatchObject([
      { kind: 'tool', name: 'bash', isError: true },
    ]);
    expect(
      spansOf(
        ASKED,
        ['approval.decided', { approval_id: 'apr_1', decision: 'deny', by: 'usr_1' }],
        ['agent.tool_result', result],
      ),
    ).toMatchObject([{ kind: 'approval', detail: 'deny' }]);
  });
});

describe('what a session is waiting for', () => {
  const idle = (type: string): Written => ['session.status_idle', { stop_reason: { type } }];
  it.each([
    [[['session.status_pending', {}]], 'Waiting for a runner.'],
    [[['session.status_running', {}]], 'Waiting for the model.'],
    [[['agent.tool_use', USE], ASKED, idle('requires_action')], 'Waiting for your decision on bash.'],
    [
      [['agent.tool_use', USE], ASKED, idle('requires_action'), ['session.status_pending', {}, 'trn_2']],
      'Waiting for your decision on bash.',
    ],
    [[idle('end_turn')], undefined],
    [
      [
        [
          'session.error',
          {
            error: { code: 'rate_limited', message: '' },
            retry_status: 'retrying',
            next_attempt_at: '2026-01-01T12:34:56.000Z',
          },
        ],
        ['session.status_rescheduled', { reason: 'rate_limited' }],
      ],
      'Trying again at 12:34:56 UTC, after rate_limited.',
    ],
  ] as [Written[], string | undefined][])('after %j: %s', (written, sentence) => {
    const events = journal(...written);
    const items = chatOf({ events, drafts: [], progress: new Map() });
    expect(waitingFor({ events, drafts: [] }, items)).toBe(sentence);
  });
});
