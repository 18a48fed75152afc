import { describe, expect, it } from 'vitest';
import { QueueReader, waitingCount, waitingMessages } from '../../console/api/queue.ts';
import type { JournalEventType } from '../../console/journal/event.ts';
import { eventFrom } from './journal-events.ts';

/** Events of a journal, oldest first, as `type turn`. A message has the text of its turn. */
function readerOf(...journal: `${JournalEventType} ${string}`[]): QueueReader {
  const reader = new QueueReader();
  const events = journal.map((entry, index) => {
    const [type, turnId = ''] = entry.split(' ');
    const content = [{ type: 'text', text: `text of ${turnId}` }];
    return eventFrom({ type, turn_id: turnId, seq: index + 1, data: { content } });
  });
  for (const event of events.reverse()) reader.add(event);
  return reader;
}

const turnsOf = (reader: QueueReader) => reader.messages.map(({ turnId }) => turnId);

describe('QueueReader', () => {
  it('returns the messages of turns that have neither started nor ended, oldest first', () => {
    const reader = readerOf(
      'user.message a',
      'turn.queued a',
      'turn.started a',
      'user.message b',
      'turn.queued b',
      'user.message c',
      'turn.queued c',
      'user.message d',
      'turn.queued d',
      'turn.cancelled c',
    );
    expect(turnsOf(reader)).toEqual(['b', 'd']);
    expect(reader.messages[0]).toEqual({
      turnId: 'b',
      seq: 4,
      text: 'text of b',
      hasOtherParts: false,
      isSteering: false,
      isPinned: false,
    });
  });

  it('is complete once it has read the queueing of a started turn', () => {
    expect(readerOf('turn.started a', 'user.message b', 'turn.queued b').isComplete).toBe(false);
    expect(readerOf('turn.queued a', 'turn.started a', 'user.message b', 'turn.queued b').isComplete).toBe(
      true,
    );
    expect(readerOf('turn.queued a', 'turn.cancelled a').isComplete).toBe(false);
  });

  it('omits a turn that is retried', () => {
    expect(turnsOf(readerOf('user.message a', 'turn.queued a', 'turn.started a'))).toEqual([]);
  });

  it('marks messages that steer an unfinished turn, and pinned ones', () => {
    const content = [{ type: 'text', text: 'Stop' }];
    const steering = [
      { type: 'turn.completed', turn_id: 'ended', seq: 5, data: {} },
      { type: 'turn.queued', turn_id: 'b', seq: 4, data: { steers_turn_id: 'running' } },
      { type: 'user.message', turn_id: 'b', seq: 3, data: { content, pinned: true } },
      { type: 'turn.queued', turn_id: 'a', seq: 2, data: { steers_turn_id: 'ended' } },
      { type: 'user.message', turn_id: 'a', seq: 1, data: { content } },
    ];
    const reader = new QueueReader();
    for (const event of steering) reader.add(eventFrom(event));
    expect(reader.messages).toMatchObject([
      { turnId: 'a', isSteering: false, isPinned: false },
      { turnId: 'b', isSteering: true, isPinned: true },
    ]);
  });

  it('marks messages with content other than text', () => {
    const reader = new QueueReader();
    reader.add(eventFrom({ type: 'turn.queued', turn_id: 'a', seq: 2, data: {} }));
    const content = [{ type: 'text', text: 'Look' }, { type: 'image' }];
    reader.add(eventFrom({ type: 'user.message', turn_id: 'a', seq: 1, data: { content } }));
    expect(reader.messages).toMatchObject([{ text: 'Look', hasOtherParts: true }]);
  });
});

describe('the waiting messages of a session', () => {
  const IDLE = { status: 'idle', current_turn_id: null, queue_held: false, queued_turns: 0 } as const;
  const queue = readerOf('user.message a', 'turn.queued a', 'user.message b', 'turn.queued b').messages;
  const waiting = (session: Parameters<typeof waitingCount>[0]) => [
    waitingCount(session),
    ...waitingMessages(session, queue).map(({ turnId }) => turnId),
  ];

  it('are the queued turns behind the current turn', () => {
    expect(waiting({ ...IDLE, status: 'running', current_turn_id: 'x', queued_turns: 2 })).toEqual([
      2,
      'a',
      'b',
    ]);
  });

  it('are all queued turns of a held queue', () => {
    expect(waiting({ ...IDLE, queue_held: true, queued_turns: 2 })).toEqual([2, 'a', 'b']);
  });

  it('do not include the turn that starts as soon as a runner is free', () => {
    expect(waiting({ ...IDLE, status: 'pending', queued_turns: 2 })).toEqual([1, 'b']);
    expect(waiting({ ...IDLE, status: 'pending', queued_turns: 1 })).toEqual([0]);
  });

  it('do not include a turn that is retried', () => {
    expect(waiting({ ...IDLE, status: 'rescheduling', queued_turns: 3 })).toEqual([2, 'a', 'b']);
  });
});
