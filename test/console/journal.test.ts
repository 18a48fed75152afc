import { describe, expect, it } from 'vitest';
import { activityOf } from '../../console/journal/activity.ts';
import type { ChatItem, ToolCall } from '../../console/journal/chat.ts';
import { DURABLE_TYPES } from '../../console/journal/event.ts';
import { EVENT_TYPES } from '../../lib/event-types.ts';
import { APPROVAL_REQUESTED, chatFrom, type EventSpec, journal, text, USE } from './journal-events.ts';

const TRANSIENT_TYPES = ['agent.message_delta', 'agent.tool_progress'];

const chat = (...specs: EventSpec[]) => chatFrom(journal(...specs));
const calls = (items: ChatItem[]) => items.filter((item): item is ToolCall => item.kind === 'call');

describe('DURABLE_TYPES', () => {
  it('contains every event type except the transient ones', () => {
    expect([...DURABLE_TYPES, ...TRANSIENT_TYPES].sort()).toEqual([...EVENT_TYPES].sort());
  });
});

describe('Conversation', () => {
  it('shows each message once and tool calls and reasoning as separate items', () => {
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

  it('omits the reasoning of a discarded message', () => {
    const items = chat(
      ['agent.thinking', { message_id: 'msg_1', ...text('wrong') }],
      ['agent.message_discarded', { message_id: 'msg_1', reason: 'overloaded' }],
      ['agent.thinking', { message_id: 'msg_2', ...text('right') }],
    );
    expect(items).toMatchObject([{ kind: 'thinking', text: 'right' }]);
  });

  it('shows a queued message last until its own turn starts, then at the start of that turn', () => {
    const specs: EventSpec[] = [
      ['user.message', text('first')],
      ['turn.queued', {}],
      ['turn.started', { attempt: 1, fence: 1 }],
      ['user.message', text('second'), 'trn_2'],
      ['turn.queued', {}, 'trn_2'],
      ['agent.message', { message_id: 'msg_1', ...text('answer to the first') }],
    ];
    const textsOf = (items: ChatItem[]) =>
      items.map((item) =>
        'text' in item ? `${item.text}${'isQueued' in item && item.isQueued ? ', queued' : ''}` : item.kind,
      );
    const before = ['first', 'answer to the first'];
    expect(textsOf(chat(...specs))).toEqual([...before, 'second, queued']);
    expect(textsOf(chat(...specs, ['turn.completed', {}]))).toEqual([...before, 'end', 'second']);
    expect(
      textsOf(
        chat(
          ...specs,
          ['turn.completed', {}],
          ['turn.started', { attempt: 1, fence: 2 }, 'trn_2'],
          ['agent.message', { message_id: 'msg_2', ...text('answer to the second') }, 'trn_2'],
        ),
      ),
    ).toEqual([...before, 'end', 'second', 'answer to the second']);
    expect(textsOf(chat(['user.message', text('alone')], ['turn.queued', {}]))).toEqual(['alone']);
    const held: EventSpec[] = [
      ...specs,
      ['turn.interrupted', {}],
      ['session.status_idle', { stop_reason: { type: 'interrupted' } }],
    ];
    expect(textsOf(chat(...held))).toEqual([...before, 'end', 'second, queued']);
    expect(textsOf(chat(...held, ['session.status_pending', {}, 'trn_2']))).toEqual([
      ...before,
      'end',
      'second',
    ]);
  });

  it('shows a message that steers a turn where it was delivered, with the step and without an end of its own', () => {
    const items = chat(
      ['user.message', text('first')],
      ['turn.queued', {}],
      ['turn.started', { attempt: 1, fence: 1 }],
      ['user.message', { ...text('second'), pinned: true }, 'trn_2'],
      ['turn.queued', { steers_turn_id: 'trn_1' }, 'trn_2'],
      ['agent.message', { message_id: 'msg_1', ...text('working') }],
      ['user.message_delivered', { message_seq: 4, turn_id: 'trn_1', step: 2 }],
      ['turn.completed', { delivered_to_turn_id: 'trn_1' }, 'trn_2'],
      ['agent.message', { message_id: 'msg_2', ...text('done') }],
    );
    expect(items).toMatchObject([
      { text: 'first', deliveredStep: undefined, isPinned: false },
      { text: 'working' },
      { text: 'second', deliveredStep: 2, isQueued: false, isPinned: true },
      { text: 'done' },
    ]);
    expect(items).toHaveLength(4);
  });

  it('shows a pinned message that was removed from the queue as one that is not pinned', () => {
    const items = chat(
      ['user.message', text('first')],
      ['turn.queued', {}],
      ['turn.started', { attempt: 1, fence: 1 }],
      ['user.message', { ...text('second'), pinned: true }, 'trn_2'],
      ['turn.queued', {}, 'trn_2'],
      ['turn.cancelled', { turn_id: 'trn_2', reason: 'removed' }, 'trn_2'],
    );
    expect(items.find((item) => 'text' in item && item.text === 'second')).toMatchObject({ isPinned: false });
  });

  it.each([
    [[], 'waiting'],
    [[APPROVAL_REQUESTED], 'awaiting_approval'],
    [
      [APPROVAL_REQUESTED, ['approval.decided', { approval_id: 'apr_1', decision: 'allow', by: 'usr_1' }]],
      'waiting',
    ],
    [[['agent.tool_dispatched', { tool_use_id: 'call_1', attempt: 1, fence: 1 }]], 'running'],
    [
      [['agent.tool_result', { tool_use_id: 'call_1', output: 'x', is_error: false, duration_ms: 1 }]],
      'done',
    ],
    [
      [['agent.tool_result', { tool_use_id: 'call_1', output: 'x', is_error: true, duration_ms: 1 }]],
      'failed',
    ],
    [[APPROVAL_REQUESTED, ['turn.interrupted', {}]], 'failed'],
  ] as [EventSpec[], string][])('gives a tool call followed by %j the state %s', (after, state) => {
    expect(calls(chat(['agent.tool_use', USE], ...after))[0]?.state).toBe(state);
  });

  it('names the sender of a message, and the user and account that have decided in a channel', () => {
    const sender = { provider: 'slack', external_id: 'U123', name: 'Ada', group: true };
    const items = chat(
      ['user.message', { ...text('Go'), sender }],
      ['user.message', text('Go')],
      ['agent.tool_use', USE],
      APPROVAL_REQUESTED,
      ['approval.decided', { approval_id: 'apr_1', decision: 'allow', by: 'usr_1', via: 'slack:U123' }],
    );
    expect(items).toMatchObject([
      { kind: 'user', sender },
      { kind: 'user', sender: undefined },
      { kind: 'call' },
    ]);
    expect(calls(items)[0]?.approval?.channel).toEqual({ by: 'usr_1', via: 'slack:U123' });
  });

  it('names the MCP server whose text the output of a call is', () => {
    const result = { tool_use_id: 'call_1', output: 'x', is_error: false, duration_ms: 1 };
    const callsOf = (more: object) =>
      calls(chat(['agent.tool_use', USE], ['agent.tool_result', { ...result, ...more }]));
    expect(callsOf({ mcp_server: 'example' })[0]?.mcpServer).toBe('example');
    expect(callsOf({})[0]?.mcpServer).toBeUndefined();
  });

  it('distinguishes tool calls with the same id in different turns', () => {
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

  it('accepts any contiguous part of a journal', () => {
    const whole: EventSpec[] = [
      ['user.message', text('Go')],
      ['turn.started', { turn_id: 'trn_1', attempt: 1, fence: 1 }],
      ['model.request_started', { model: 'm' }],
      ['agent.tool_use', USE],
      APPROVAL_REQUESTED,
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
        const items = chatFrom(part);
        expect(items.map(({ seq }) => seq)).toEqual(items.map(({ seq }) => seq).toSorted((a, b) => a - b));
        activityOf({ events: part, drafts: [] }, items);
      }
    const all = chatFrom(events);
    expect(all.map(({ kind }) => kind)).toEqual(['user', 'call', 'files', 'end']);
    expect(calls(all)[0]).toMatchObject({ state: 'failed', approval: { decision: 'deny', reason: 'no' } });
  });
});

describe('activityOf', () => {
  const idle = (type: string): EventSpec => ['session.status_idle', { stop_reason: { type } }];
  it.each([
    [[['session.status_pending', {}]], 'Waiting for a runner.'],
    [[['session.status_running', {}]], 'Waiting for the model.'],
    [
      [['agent.tool_use', USE], APPROVAL_REQUESTED, idle('requires_action')],
      'Waiting for your decision on bash.',
    ],
    [
      [
        ['agent.tool_use', USE],
        APPROVAL_REQUESTED,
        idle('requires_action'),
        ['session.status_pending', {}, 'trn_2'],
      ],
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
      'Retrying at 12:34:56 UTC after rate_limited.',
    ],
  ] as [EventSpec[], string | undefined][])('returns for %j the text %s', (specs, sentence) => {
    const events = journal(...specs);
    const items = chatFrom(events);
    expect(activityOf({ events, drafts: [] }, items)).toBe(sentence);
  });
});
