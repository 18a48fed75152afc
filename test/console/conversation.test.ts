import { describe, expect, it } from 'vitest';
import { activityOf } from '../../console/journal/activity.ts';
import type { ChatItem } from '../../console/journal/chat-items.ts';
import { compactionText } from '../../console/journal/compaction-text.ts';
import { Conversation } from '../../console/journal/conversation.ts';
import type { JournalEvent } from '../../console/journal/event.ts';
import { itemShowing } from '../../console/journal/event-target.ts';
import { pageEnd, pageStart } from '../../console/journal/page-boundaries.ts';
import { callKey } from '../../console/journal/view.ts';
import {
  APPROVAL_REQUESTED,
  byUser,
  chatFrom,
  compacted,
  type EventSpec,
  eventFrom,
  journal,
  retryingError,
  text,
  USE,
} from './journal-events.ts';

const file = (type: string, path: string, version: number): EventSpec => [
  type,
  { path, ...(type === 'file.deleted' ? {} : { size: 10, sha256: '' }), workspace_version: version },
  '',
];
const uploaded = (count: number, version: number): EventSpec => {
  const files = Array.from({ length: Math.min(count, 100) }, (_, index) => ({
    path: `v${version}/${index}`,
    size: 1,
  }));
  return ['files.uploaded', { workspace_version: version, file_count: count, bytes: count, files }, ''];
};

describe('Conversation with uploads', () => {
  it('folds 300 file events of one upload into one item', () => {
    const specs = Array.from({ length: 300 }, (_, index) =>
      file(index % 2 === 0 ? 'file.created' : 'file.modified', `file-${index}`, 4),
    );
    const [upload, ...others] = chatFrom(byUser(journal(...specs)));
    expect(others).toEqual([]);
    expect(upload).toMatchObject({ kind: 'upload', seq: 1, lastSeq: 300, fileCount: 300, bytes: 3_000 });
    expect(upload?.kind === 'upload' && upload.files).toHaveLength(100);
  });

  it('joins consecutive uploads and begins a new item after a message', () => {
    const events = byUser(
      journal(uploaded(300, 1), uploaded(2, 2), ['user.message', text('Go')], uploaded(1, 3)),
    );
    expect(chatFrom(events)).toMatchObject([
      { kind: 'upload', fileCount: 302, bytes: 302 },
      { kind: 'user' },
      { kind: 'upload', fileCount: 1, files: [{ path: 'v3/0' }] },
    ]);
  });

  it('keeps changes by tools and moved files as changes', () => {
    const byAgent = journal(file('file.created', 'a', 1), file('file.modified', 'b', 1));
    expect(chatFrom(byAgent)).toMatchObject([
      {
        kind: 'files',
        files: [
          { path: 'a', change: 'created' },
          { path: 'b', change: 'modified' },
        ],
      },
    ]);
    const moved = byUser(journal(file('file.deleted', 'old', 2), file('file.created', 'new', 2)));
    expect(chatFrom(moved)).toMatchObject([{ kind: 'files', files: [{ path: 'old' }, { path: 'new' }] }]);
  });
});

describe('Conversation with retries', () => {
  const started: EventSpec = ['turn.started', { attempt: 2, fence: 2 }];
  const rescheduled: EventSpec = ['session.status_rescheduled', { reason: 'model_overloaded' }];
  const overloaded = [retryingError('model_overloaded'), rescheduled];

  it('describes the retries after one error in one line', () => {
    expect(chatFrom(journal(...overloaded))).toMatchObject([
      { text: 'Model overloaded: waiting for the retry' },
    ]);
    expect(chatFrom(journal(...overloaded, started))).toMatchObject([
      { kind: 'notice', text: 'Model overloaded: retried 1 time, 200 ms' },
    ]);
    expect(chatFrom(journal(...overloaded, started, ...overloaded, started))).toMatchObject([
      { seq: 1, lastSeq: 6, text: 'Model overloaded: retried 2 times, 500 ms' },
    ]);
  });

  it('states that a turn ended while it waited for the retry', () => {
    const [retry] = chatFrom(journal(...overloaded, ['turn.interrupted', {}]));
    expect(retry).toMatchObject({ text: 'Model overloaded: the turn ended before the retry' });
    const [second] = chatFrom(journal(...overloaded, started, ...overloaded, ['turn.interrupted', {}]));
    expect(second).toMatchObject({ text: 'Model overloaded: retried 1 time, 200 ms' });
  });

  it('begins a new line after progress and for another error', () => {
    const message: EventSpec = ['agent.message', { message_id: 'msg_1', ...text('Hi') }];
    const events = journal(
      ...overloaded,
      started,
      message,
      ...overloaded,
      started,
      retryingError('model_timeout'),
      started,
    );
    expect(chatFrom(events).flatMap((item) => ('text' in item ? [item.text] : []))).toEqual([
      'Model overloaded: retried 1 time, 200 ms',
      'Hi',
      'Model overloaded: retried 1 time, 200 ms',
      'Model timeout: retried 1 time, 100 ms',
    ]);
  });

  it('states that a turn without an error continues automatically', () => {
    expect(chatFrom(journal(['session.status_rescheduled', { reason: 'lease_expired' }]))).toMatchObject([
      { text: 'The turn continues automatically: lease_expired.' },
    ]);
  });
});

describe('Conversation with an authorization of a turn', () => {
  const details = { model_provider: 'openai', name: 'openai', reason: 'unavailable', who: 'administrator' };
  const requested: EventSpec = [
    'approval.requested',
    { approval_id: 'apr_1', kind: 'authorization', details, expires_at: '2026-01-02T12:00:00.000Z' },
  ];

  it('shows it as an item of its own until it is decided', () => {
    expect(chatFrom(journal(requested))).toMatchObject([
      { kind: 'authorization', approval: { approvalId: 'apr_1', details, decision: undefined } },
    ]);
    const decided: EventSpec = ['approval.decided', { approval_id: 'apr_1', decision: 'deny', by: 'usr_1' }];
    const events = journal(requested, decided);
    const items = chatFrom(events);
    expect(items).toMatchObject([{ kind: 'authorization', approval: { decision: 'deny' } }]);
    expect(itemShowing(items, events[1]!)).toBe(items[0]);
  });

  it('names it in the sentence about the work of the session', () => {
    const idle: EventSpec = [
      'session.status_idle',
      { stop_reason: { type: 'requires_action', kind: 'authorization' } },
    ];
    const events = journal(requested, idle);
    expect(activityOf({ events, drafts: [] }, chatFrom(events))).toBe(
      'Waiting for the model key of the agent.',
    );
  });
});

describe('itemShowing', () => {
  const events = journal(
    ['user.message', text('Go')],
    ['turn.queued', {}],
    ['turn.started', { attempt: 1, fence: 1 }],
    ['agent.message', { message_id: 'msg_1', ...text('I will.') }],
    ['agent.tool_use', USE],
    APPROVAL_REQUESTED,
    ['user.tool_approval', { approval_id: 'apr_1', decision: 'allow' }],
    ['agent.tool_dispatched', { tool_use_id: 'call_1', attempt: 1, fence: 1 }],
    ['agent.tool_result', { tool_use_id: 'call_1', output: '', is_error: false, duration_ms: 1 }],
    ['turn.completed', {}],
    ['session.status_idle', { stop_reason: { type: 'end_turn' } }, ''],
    file('file.created', 'a', 1),
    file('file.created', 'b', 1),
  );
  const items = chatFrom(events);

  it.each([
    [1, 1],
    [3, 1],
    [4, 4],
    [5, 5],
    [6, 5],
    [7, 5],
    [8, 5],
    [9, 5],
    [10, 10],
    [11, 10],
    [13, 12],
  ])('returns for event %i the item with the seq %i', (seq, expected) => {
    const event = events[seq - 1];
    expect(event && itemShowing(items, event)?.seq).toBe(expected);
  });

  it('returns the message of a delta and the call of an output', () => {
    const transient = (type: 'agent.message_delta' | 'agent.tool_progress', data: object): JournalEvent =>
      eventFrom({ ...events[3], type, seq: 999, data: { ...data } });
    const delta = transient('agent.message_delta', { message_id: 'msg_1', index: 0, delta: 'I' });
    expect(itemShowing(items, delta)?.seq).toBe(4);
    const output = transient('agent.tool_progress', { tool_use_id: 'call_1', output_delta: 'x' });
    expect(itemShowing(items, output)?.seq).toBe(5);
    expect(itemShowing([], delta)).toBeUndefined();
  });
});

describe('pageStart', () => {
  const turn = (id: string): EventSpec[] => [
    ['user.message', text(id), id],
    ['turn.queued', {}, id],
    ['turn.started', {}, id],
    ['turn.completed', {}, id],
  ];
  const events = journal(...turn('trn_1'), ...turn('trn_2'), ...turn('trn_3'));

  it('begins with the newest turn that leaves enough events', () => {
    expect(pageStart(events, [], 1)).toBe(8);
    expect(pageStart(events, [], 5)).toBe(4);
    expect(pageStart(events, [], 13)).toBeUndefined();
  });

  it('includes the beginning of the turns of later events', () => {
    expect(pageStart(events.slice(0, 10), events.slice(10), 0)).toBe(8);
    expect(pageStart(events.slice(9, 10), events.slice(10), 0)).toBeUndefined();
  });

  it('begins before a turn during which the message of another turn was sent', () => {
    const [message, queued, started, completed] = turn('trn_1');
    const mixed = [
      message,
      queued,
      started,
      ...turn('trn_2').slice(0, 2),
      completed,
      ...turn('trn_2').slice(2),
    ];
    expect(pageStart(journal(...mixed.filter((spec) => spec !== undefined)), [], 1)).toBe(0);
  });

  it('begins with a turn that has no message, because it replaces an answer or compacts', () => {
    for (const members of [{ kind: 'compaction' }, { replaces_turn_id: 'trn_1' }]) {
      const [, , started, completed] = turn('trn_2').map(([type, , id]): EventSpec => [type, {}, id]);
      const own = [['turn.queued', members, 'trn_2'] as EventSpec, started, completed];
      const all = journal(...turn('trn_1'), ...own.filter((spec) => spec !== undefined));
      expect(pageStart(all, [], 1), JSON.stringify(members)).toBe(4);
    }
  });

  it('does not count file events', () => {
    const files = Array.from({ length: 300 }, (_, index) => file('file.created', `file-${index}`, 1));
    const all = journal(...turn('trn_1'), ...files);
    expect(pageStart(all, [], 1)).toBe(0);
  });
});

describe('pageEnd', () => {
  it('ends with a turn, and not between two turns of which one is unfinished', () => {
    const specs: EventSpec[] = [
      ['agent.tool_result', {}, 'trn_1'],
      ['turn.completed', {}, 'trn_1'],
      ['user.message', {}, 'trn_2'],
      ['turn.started', {}, 'trn_2'],
      ['agent.message', {}, 'trn_2'],
    ];
    expect(pageEnd(journal(...specs), 1)).toBe(2);
    expect(pageEnd(journal(...specs), 4)).toBeUndefined();
    expect(pageEnd(journal(...specs, ['turn.failed', {}, 'trn_2']), 4)).toBe(6);
  });
});

describe('Conversation', () => {
  const events = journal(
    ['user.message', text('Go')],
    ['turn.started', { attempt: 1, fence: 1 }],
    ['agent.message', { message_id: 'msg_1', ...text('I will.') }],
    ['agent.tool_use', USE],
    ['agent.tool_dispatched', { tool_use_id: 'call_1', attempt: 1, fence: 1 }],
    file('file.created', 'a', 1),
  );
  const draft = (text: string) => ({ messageId: 'msg_2', turnId: 'trn_1', text, seq: 7, createdAt: '' });
  const kindsOfOthers = (items: readonly ChatItem[], before: readonly ChatItem[]) =>
    items.filter((item) => !before.includes(item)).map(({ kind }) => kind);

  it('creates new objects only for the partial output that has changed', () => {
    const conversation = new Conversation();
    const read = (draftText: string, output: string) =>
      conversation.read({
        events,
        drafts: [draft(draftText)],
        progress: new Map([[callKey('trn_1', 'call_1'), output]]),
      });
    const first = read('a', 'x');
    expect(first.map(({ kind }) => kind)).toEqual(['user', 'agent', 'call', 'files', 'agent']);
    const second = read('ab', 'x');
    expect(second.at(-1)).toMatchObject({ text: 'ab', isDraft: true });
    expect(kindsOfOthers(second, first)).toEqual(['agent']);
    const third = read('ab', 'xy');
    expect(third[2]).toMatchObject({ kind: 'call', progress: 'xy' });
    expect(kindsOfOthers(third, second)).toEqual(['call']);
  });

  it('creates new objects only for the items that a durable event has changed', () => {
    const conversation = new Conversation();
    const read = (count: number) =>
      conversation.read({ events: events.slice(0, count), drafts: [], progress: new Map() });
    const counts = Array.from(events, (_, index) => index + 1);
    let before: ChatItem[] = [];
    const changed = counts.map((count) => {
      const items = read(count);
      const kinds = kindsOfOthers(items, before);
      before = items;
      return kinds;
    });
    expect(changed).toEqual([['user'], [], ['agent'], ['call'], ['call'], ['files']]);
    expect(before).toEqual(chatFrom(events));
  });

  it('keeps the items when earlier events are added', () => {
    const conversation = new Conversation();
    const later = conversation.read({ events: events.slice(2), drafts: [], progress: new Map() });
    const all = conversation.read({ events, drafts: [], progress: new Map() });
    expect(kindsOfOthers(all, later)).toEqual(['user']);
  });
});

describe('Conversation with compactions', () => {
  it('shows a compaction at its place, between the message of its turn and the answer', () => {
    const events = journal(['user.message', text('Which name?')], compacted(), [
      'agent.message',
      { message_id: 'msg_1', ...text('Ada') },
    ]);
    const chat = chatFrom(events);
    expect(chat.map(({ kind }) => kind)).toEqual(['user', 'compaction', 'agent']);
    const [, event] = events;
    expect(event && itemShowing(chat, event)).toBe(chat[1]);
  });

  it.each([
    [{}, 'Earlier messages were replaced by a summary'],
    [
      { strategy: 'drop_turns', fallback: 'summary_failed' },
      'The oldest messages were left out, because no summary could be written',
    ],
    [
      { strategy: 'drop_turns', fallback: 'results_too_small' },
      'The oldest messages were left out, because moving outputs to files was not enough',
    ],
    [
      { strategy: 'drop_tool_results', moved: [{ seq: 3, path: '.outputs/3', bytes: 9_000, shown: 0 }] },
      'Large outputs of tools were moved to files',
    ],
    [
      { strategy: 'drop_tool_results', moved: [{ seq: 3, bytes: 9_000, shown: 0 }] },
      'Large outputs of tools were left out',
    ],
  ])('describes the compaction %o', (data, expected) => {
    const [item] = chatFrom(journal(compacted(data)));
    expect(item?.kind === 'compaction' && compactionText(item.data)).toBe(expected);
  });

  it('says of a turn without a message whether it has shortened the conversation', () => {
    const begin: EventSpec[] = [
      ['turn.queued', { turn_id: 'trn_1', kind: 'compaction' }],
      ['session.status_running', {}],
      ['turn.started', {}],
    ];
    const completed: EventSpec = ['turn.completed', {}];
    expect(chatFrom(journal(...begin, compacted(), completed))).toMatchObject([
      { kind: 'compaction' },
      { kind: 'end', compaction: 'compacted' },
    ]);
    expect(chatFrom(journal(...begin, completed))).toMatchObject([{ kind: 'end', compaction: 'unchanged' }]);
    expect(chatFrom(journal(['turn.queued', {}], completed))).toMatchObject([{ compaction: undefined }]);
    const events = journal(...begin);
    expect(activityOf({ events, drafts: [] }, chatFrom(events))).toBe(
      'Shortening the conversation for the model.',
    );
  });
});
