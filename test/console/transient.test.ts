import { describe, expect, it } from 'vitest';
import { type DurableEvent, isTransient, type TransientEvent } from '../../console/journal/event.ts';
import { TransientState } from '../../console/journal/transient.ts';
import { callKey } from '../../console/journal/view.ts';
import type { EventType } from '../../lib/event-types.ts';
import { eventFrom } from './journal-events.ts';

const eventOf = (type: EventType, turnId: string, data: object) =>
  eventFrom({
    event_id: 'evt_1',
    session_id: 'ses_1',
    seq: 1,
    type,
    turn_id: turnId,
    created_at: '2026-01-01T12:00:00.000Z',
    actor: { type: 'agent', id: 'agt_1' },
    data: { ...data },
  });

function transientEvent(
  type: 'agent.message_delta' | 'agent.tool_progress',
  turnId: string,
  data: object,
): TransientEvent {
  const event = eventOf(type, turnId, data);
  if (!isTransient(event)) throw new Error(`${type} is a durable event`);
  return event;
}

function durableEvent(type: EventType, turnId: string, data: object = {}): DurableEvent {
  const event = eventOf(type, turnId, data);
  if (isTransient(event)) throw new Error(`${type} is a transient event`);
  return event;
}

const messageDelta = (turnId: string, messageId: string, delta: string) =>
  transientEvent('agent.message_delta', turnId, { message_id: messageId, delta });
const toolOutput = (turnId: string, delta: string) =>
  transientEvent('agent.tool_progress', turnId, { tool_use_id: 'call_1', output_delta: delta });

describe('TransientState', () => {
  it('concatenates deltas per message and per tool call of a turn', () => {
    const state = new TransientState();
    for (const event of [messageDelta('trn_1', 'msg_1', 'Hel'), messageDelta('trn_1', 'msg_1', 'lo')])
      state.add(event);
    for (const event of [toolOutput('trn_1', 'a'), toolOutput('trn_2', 'b'), toolOutput('trn_1', 'c')])
      state.add(event);
    expect(state.drafts).toMatchObject([{ messageId: 'msg_1', turnId: 'trn_1', text: 'Hello' }]);
    expect([...state.progress]).toEqual([
      [callKey('trn_1', 'call_1'), 'ac'],
      [callKey('trn_2', 'call_1'), 'b'],
    ]);
  });

  it.each(['agent.message', 'agent.message_discarded'] as const)(
    'drops the draft of a message after %s',
    (type) => {
      const state = new TransientState();
      state.add(messageDelta('trn_1', 'msg_1', 'one'));
      state.add(messageDelta('trn_1', 'msg_2', 'two'));
      state.dropSuperseded(durableEvent(type, 'trn_1', { message_id: 'msg_1' }));
      expect(state.drafts).toMatchObject([{ messageId: 'msg_2' }]);
    },
  );

  it('drops the partial output of a tool call after its result', () => {
    const state = new TransientState();
    state.add(toolOutput('trn_1', 'a'));
    state.dropSuperseded(durableEvent('agent.tool_result', 'trn_1', { tool_use_id: 'call_1' }));
    expect(state.progress.size).toBe(0);
  });

  it.each(['turn.completed', 'turn.failed', 'turn.interrupted', 'turn.cancelled'] as const)(
    'drops the drafts and output of a turn, and of no other turn, after %s',
    (type) => {
      const state = new TransientState();
      for (const turn of ['trn_1', 'trn_2']) {
        state.add(messageDelta(turn, `msg_of_${turn}`, 'text'));
        state.add(toolOutput(turn, 'text'));
      }
      state.dropSuperseded(durableEvent(type, 'trn_1'));
      expect(state.drafts).toMatchObject([{ turnId: 'trn_2' }]);
      expect([...state.progress.keys()]).toEqual([callKey('trn_2', 'call_1')]);
    },
  );

  it('keeps the last 100,000 characters of tool output', () => {
    const state = new TransientState();
    for (let part = 0; part < 30; part++) state.add(toolOutput('trn_1', `${part}`.padStart(10_000, '.')));
    const [text = ''] = state.progress.values();
    expect(text.length).toBe(100_000);
    expect(text.endsWith('.29')).toBe(true);
  });
});
