import { describe, expect, it } from 'vitest';
import {
  asJournalEvent,
  isPassing,
  type LastingEvent,
  type PassingEvent,
} from '../../console/journal/event.ts';
import { Passing } from '../../console/journal/passing.ts';
import { callKey } from '../../console/journal/view.ts';
import type { EventType } from '../../lib/events.ts';

const eventOf = (type: EventType, turnId: string, data: object) =>
  asJournalEvent({
    event_id: 'evt_1',
    session_id: 'ses_1',
    seq: 1,
    type,
    turn_id: turnId,
    created_at: '2026-01-01T12:00:00.000Z',
    actor: { type: 'agent', id: 'agt_1' },
    data: { ...data },
  });

function piece(
  type: 'agent.message_delta' | 'agent.tool_progress',
  turnId: string,
  data: object,
): PassingEvent {
  const event = eventOf(type, turnId, data);
  if (!isPassing(event)) throw new Error(`${type} lasts`);
  return event;
}

function whole(type: EventType, turnId: string, data: object = {}): LastingEvent {
  const event = eventOf(type, turnId, data);
  if (isPassing(event)) throw new Error(`${type} only passes`);
  return event;
}

const said = (turnId: string, messageId: string, delta: string) =>
  piece('agent.message_delta', turnId, { message_id: messageId, delta });
const printed = (turnId: string, delta: string) =>
  piece('agent.tool_progress', turnId, { tool_use_id: 'call_1', output_delta: delta });

describe('what is said and printed at the moment', () => {
  it('is put together from its pieces, calls of two turns apart', () => {
    const passing = new Passing();
    for (const event of [said('trn_1', 'msg_1', 'Hel'), said('trn_1', 'msg_1', 'lo')]) passing.add(event);
    for (const event of [printed('trn_1', 'a'), printed('trn_2', 'b'), printed('trn_1', 'c')])
      passing.add(event);
    expect(passing.drafts).toMatchObject([{ messageId: 'msg_1', turnId: 'trn_1', text: 'Hello' }]);
    expect([...passing.progress]).toEqual([
      [callKey('trn_1', 'call_1'), 'ac'],
      [callKey('trn_2', 'call_1'), 'b'],
    ]);
  });

  it.each(['agent.message', 'agent.message_discarded'] as const)('is no draft any more after %s', (type) => {
    const passing = new Passing();
    passing.add(said('trn_1', 'msg_1', 'one'));
    passing.add(said('trn_1', 'msg_2', 'two'));
    passing.settle(whole(type, 'trn_1', { message_id: 'msg_1' }));
    expect(passing.drafts).toMatchObject([{ messageId: 'msg_2' }]);
  });

  it('is no output any more once the call has one', () => {
    const passing = new Passing();
    passing.add(printed('trn_1', 'a'));
    passing.settle(whole('agent.tool_result', 'trn_1', { tool_use_id: 'call_1' }));
    expect(passing.progress.size).toBe(0);
  });

  it.each(['turn.completed', 'turn.failed', 'turn.interrupted', 'turn.cancelled'] as const)(
    'is forgotten with its turn, and with no other: %s',
    (type) => {
      const passing = new Passing();
      for (const turn of ['trn_1', 'trn_2']) {
        passing.add(said(turn, `msg_of_${turn}`, 'text'));
        passing.add(printed(turn, 'text'));
      }
      passing.settle(whole(type, 'trn_1'));
      expect(passing.drafts).toMatchObject([{ turnId: 'trn_2' }]);
      expect([...passing.progress.keys()]).toEqual([callKey('trn_2', 'call_1')]);
    },
  );

  it('keeps the end of what is printed without end', () => {
    const passing = new Passing();
    for (let part = 0; part < 30; part++) passing.add(printed('trn_1', `${part}`.padStart(10_000, '.')));
    const [text = ''] = passing.progress.values();
    expect(text.length).toBe(100_000);
    expect(text.endsWith('.29')).toBe(true);
  });
});
