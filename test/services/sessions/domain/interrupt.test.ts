import { describe, expect, it } from 'vitest';
import { interrupt, NO_INTERRUPT_CONTEXT } from '../../../../services/sessions/domain/interrupt.ts';
import { callWithApproval, dataOf, NEXT, NOW, sessionState, turnState, typesOf, USER } from './states.ts';

const INPUT = { actor: USER, queue: 'continue', now: NOW } as const;
const partial = { model: 'rehearsal/script', text: 'half a sentence' };

describe('interrupt', () => {
  it('changes nothing when the session has no turn', () => {
    const state = sessionState({ status: 'idle' });
    const change = interrupt(state, NO_INTERRUPT_CONTEXT, INPUT);
    expect(change).toMatchObject({ drafts: [], turns: [], head: { status: 'idle', fence: 5 } });
  });

  it.each(['in_progress', 'blocked'] as const)('ends a turn that is %s and raises the fence', (status) => {
    const state = sessionState({ current: turnState({ status }) });
    const change = interrupt(state, NO_INTERRUPT_CONTEXT, INPUT);
    expect(typesOf(change)).toEqual(['user.interrupt', 'turn.interrupted', 'session.status_idle']);
    expect(change.turns).toMatchObject([{ status: 'interrupted', leaseUntil: null, finishedAt: NOW }]);
    expect(change.head).toMatchObject({
      status: 'idle',
      stopReason: { type: 'interrupted' },
      currentTurnId: null,
      fence: 6,
    });
  });

  it.each([
    ['keeps an unfinished message with text', 'msg_1', partial, 'agent.message'],
    [
      'discards an unfinished message without text',
      'msg_1',
      { ...partial, text: '' },
      'agent.message_discarded',
    ],
    ['discards an unfinished message that was not read', 'msg_1', undefined, 'agent.message_discarded'],
    ['ignores text when no message is unfinished', null, partial, undefined],
  ])('%s', (_, openMessageId, found, expected) => {
    const state = sessionState({ current: turnState({ openMessageId }) });
    const change = interrupt(state, { ...NO_INTERRUPT_CONTEXT, partial: found }, INPUT);
    expect(typesOf(change).filter((type) => type.startsWith('agent.'))).toEqual(expected ? [expected] : []);
    if (expected === 'agent.message')
      expect(dataOf(change, 'agent.message')).toEqual({
        message_id: 'msg_1',
        content: [{ type: 'text', text: partial.text }],
        model: partial.model,
        finish_reason: 'interrupted',
      });
  });

  it('cancels the pending approvals of a blocked turn', () => {
    const calls = [callWithApproval('1'), callWithApproval('2', 'allow')];
    const state = sessionState({ status: 'idle', current: turnState({ status: 'blocked', calls }) });
    const change = interrupt(state, NO_INTERRUPT_CONTEXT, INPUT);
    expect(change.closedApprovals).toEqual([
      { approvalId: 'apr_1', status: 'cancelled', reason: 'interrupted' },
    ]);
    expect(change.drafts.filter(({ type }) => type === 'agent.tool_result')).toHaveLength(2);
  });

  it.each([
    ['cancels a queued turn that never started', 0, 'cancelled', 'turn.cancelled'],
    ['interrupts a sleeping turn that has started before', 2, 'interrupted', 'turn.interrupted'],
  ])('%s', (_, attempt, status, type) => {
    const waiting = turnState({ status: 'queued', attempt, leaseUntil: null });
    const state = sessionState({ status: 'pending', queuedTurns: 1 });
    const change = interrupt(state, { ...NO_INTERRUPT_CONTEXT, waiting }, INPUT);
    expect(typesOf(change)).toContain(type);
    expect(change.turns).toMatchObject([{ status, wakeAt: null, ready: false }]);
    expect(change.head).toMatchObject({ status: 'idle', queuedTurns: 0 });
  });

  it('holds the queue when turns wait behind the interrupted one', () => {
    const state = sessionState({ current: turnState(), queuedTurns: 1, next: NEXT });
    const change = interrupt(state, NO_INTERRUPT_CONTEXT, { ...INPUT, queue: 'hold' });
    expect(change.promote).toBeUndefined();
    expect(change.head).toMatchObject({
      status: 'idle',
      queueHeld: true,
      queuedTurns: 1,
      stopReason: { type: 'interrupted' },
    });
    expect(typesOf(change)).toEqual([
      'user.interrupt',
      'turn.interrupted',
      'session.status_idle',
      'session.updated',
    ]);
  });

  it('does not hold an empty queue', () => {
    const state = sessionState({ current: turnState() });
    const change = interrupt(state, NO_INTERRUPT_CONTEXT, { ...INPUT, queue: 'hold' });
    expect(change.head).toMatchObject({ status: 'idle', queueHeld: false });
    expect(typesOf(change)).not.toContain('session.updated');
  });

  it.each(['continue', 'hold'] as const)('leaves a held queue as it is (queue: %s)', (queue) => {
    const waiting = turnState({ status: 'queued', attempt: 0, leaseUntil: null });
    const state = sessionState({ status: 'idle', queuedTurns: 1, queueHeld: true, next: NEXT });
    const change = interrupt(state, { ...NO_INTERRUPT_CONTEXT, waiting }, { ...INPUT, queue });
    expect(change).toMatchObject({ drafts: [], turns: [], head: { status: 'idle', queueHeld: true } });
  });

  it('makes the turn behind the interrupted one ready', () => {
    const waiting = turnState({ status: 'queued', attempt: 0, leaseUntil: null });
    const state = sessionState({ status: 'rescheduling', queuedTurns: 2 });
    const change = interrupt(state, { ...NO_INTERRUPT_CONTEXT, waiting, behind: NEXT }, INPUT);
    expect(change).toMatchObject({ promote: NEXT.position, head: { status: 'pending', queuedTurns: 1 } });
  });
});
